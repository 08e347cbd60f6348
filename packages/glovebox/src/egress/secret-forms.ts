/** A text to look for: each letter in the ways in which it may be written, and what takes the place of all. */
export interface SecretForm {
  readonly letters: readonly (readonly string[])[]
  /** Never longer than what is found. */
  readonly put: string
}

// As writers of JSON, of scripts and of HTML may have them, beside their numbers.
const NAMED: Readonly<Record<string, readonly string[]>> = {
  " ": ["+"],
  '"': [String.raw`\"`, "&quot;"],
  "&": ["&amp;"],
  "'": [String.raw`\'`, "&apos;"],
  "/": [String.raw`\/`],
  "<": ["&lt;"],
  ">": ["&gt;"],
  "\\": [String.raw`\\`],
}
const SPELLINGS = new Map<string, readonly string[]>()
// The letters that are others in URLs.
const IN_BASE64 = new Map([
  ["+", [...spellings("+"), "-"]],
  ["/", [...spellings("/"), "_"]],
])

/** A value in the forms in which a server may give it back, each with the placeholder in the same form. */
export function secretForms(value: string, placeholder: string): readonly SecretForm[] {
  const within = [0, 1, 2].map((offset) => ({
    letters: lettersOf(withinBase64(value, offset)).map(
      (letter) => IN_BASE64.get(letter) ?? spellingsOf(letter),
    ),
    put: withinBase64(placeholder, offset),
  }))
  return [
    // Some servers make small letters of what is in a header.
    { letters: lettersOf(value).map(inAnyCase), put: placeholder },
    ...within,
    { letters: lettersOf(inUtf16(value)).map((letter) => [letter]), put: inUtf16(placeholder) },
  ]
}

// Made once for each: a long value must not cost much.
function spellingsOf(letter: string): readonly string[] {
  let known = SPELLINGS.get(letter)
  if (!known) SPELLINGS.set(letter, (known = spellings(letter)))
  return known
}

function inAnyCase(letter: string): readonly string[] {
  const [small, capital] = [letter.toLowerCase(), letter.toUpperCase()]
  return small === capital ? spellingsOf(letter) : [...spellingsOf(small), ...spellingsOf(capital)]
}

// What a writer makes of one letter is its own choice, so every mixture of them is the value.
function spellings(letter: string): string[] {
  const code = letter.charCodeAt(0)
  const digits = code.toString(16).padStart(2, "0")
  return [
    letter,
    ...(NAMED[letter] ?? []),
    ...bothCases(digits).flatMap((hex) => [
      `%${hex}`,
      String.raw`\x${hex}`,
      String.raw`\u00${hex}`,
      `&#x${hex};`,
    ]),
    `&#${code};`,
    `&#${String(code).padStart(3, "0")};`,
  ]
}

function bothCases(digits: string): string[] {
  return [...new Set([digits, digits.toUpperCase()])]
}

// The part that does not depend on what stands before and behind; base64 writes three bytes as four letters.
function withinBase64(text: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text, "latin1")])
  const [first, last] = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)]
  return bytes.toString("base64").slice(first, last)
}

// Without the byte that only one of its two orders has before, and the other behind.
function inUtf16(text: string): string {
  return lettersOf(text).join("\0")
}

function lettersOf(text: string): string[] {
  return text.split("")
}
