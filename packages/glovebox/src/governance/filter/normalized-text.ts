// Letters of other alphabets that look like these.
const LOOKALIKES: Readonly<Record<string, string>> = {
  a: "аɑα",
  b: "ьƅ",
  c: "сϲᴄ",
  d: "ԁɗ",
  e: "еҽєε",
  g: "ɡց",
  h: "һհ",
  i: "іıɩι",
  j: "јϳ",
  k: "кκ",
  l: "ӏǀ",
  m: "мʍ",
  n: "ոηп",
  o: "оοօ",
  p: "рρ",
  q: "ԛզ",
  r: "гᴦ",
  s: "ѕꜱ",
  t: "тτ",
  u: "υսʋ",
  v: "ѵν",
  w: "ԝѡω",
  x: "хχ",
  y: "уүγ",
  z: "ᴢ",
  "/": "\\∕⁄⧸╱",
  ".": "。·․",
  ":": "։׃ː",
  "-": "‐‑‒–—−",
  "'": "’‘ʼ",
}

const PLAIN = new Map(
  Object.entries(LOOKALIKES).flatMap(([plain, others]) =>
    Array.from(others, (other) => [other, plain] as const),
  ),
)
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Mn}]/u
const SPACE = 32
const PERCENT = 37
const DOT = 46
const SLASH = 47
// One character can stand for eighteen.
const MAX_EXPANSION = 6
const MAX_SEEN = 4096

/** Text as rules see it, and where each of its characters comes from. */
export interface NormalizedText {
  readonly text: string
  /** The place in the original of a range of the normalized text. */
  originalRange(start: number, end: number): { readonly start: number; readonly end: number }
}

/**
 * Takes away what hides a text from a rule: case, widths, accents, lookalikes, invisible characters, percent
 * encoding, runs of white space, `//` and `/./`.
 */
export function normalizeText(text: string): NormalizedText {
  const units = new Units(text.length)
  let at = 0
  while (at < text.length) {
    const [plain, end] = plainAt(text, at)
    for (let index = 0; index < plain.length; index += 1) units.push(plain.charCodeAt(index), at, end)
    at = end
  }
  return {
    text: units.toString(),
    originalRange: (start, end) => ({
      start: units.starts[start] ?? text.length,
      end: units.ends[end - 1] ?? text.length,
    }),
  }
}

/** The characters that were kept, and where they come from. */
class Units {
  #units: Uint16Array
  starts: Uint32Array
  ends: Uint32Array
  #length = 0

  constructor(room: number) {
    this.#units = new Uint16Array(room)
    this.starts = new Uint32Array(room)
    this.ends = new Uint32Array(room)
  }

  push(unit: number, start: number, end: number): void {
    const last = this.#units[this.#length - 1]
    if ((unit === SPACE || unit === SLASH) && unit === last) return
    // "/./" is "/".
    if (unit === SLASH && last === DOT && this.#units[this.#length - 2] === SLASH) {
      this.#length -= 1
      return
    }
    if (this.#length === this.#units.length) this.#grow()
    this.#units[this.#length] = unit
    this.starts[this.#length] = start
    this.ends[this.#length] = end
    this.#length += 1
  }

  toString(): string {
    return Buffer.from(this.#units.buffer, 0, this.#length * 2).toString("utf16le")
  }

  // Some characters stand for several.
  #grow(): void {
    const room = this.#length * 2 + 16
    const [units, starts, ends] = [new Uint16Array(room), new Uint32Array(room), new Uint32Array(room)]
    units.set(this.#units)
    starts.set(this.starts)
    ends.set(this.ends)
    this.#units = units
    this.starts = starts
    this.ends = ends
  }
}

// What one character stands for, and where the next begins.
function plainAt(text: string, at: number): [plain: string, end: number] {
  const unit = text.charCodeAt(at)
  if (unit === PERCENT) {
    // Encoded again, a percent sign is "%25".
    const [all = "", hex = ""] = /^%(?:25){0,4}([2-7][0-9a-f])/i.exec(text.slice(at, at + 11)) ?? []
    if (hex !== "") return [plainOf(String.fromCharCode(Number.parseInt(hex, 16))), at + all.length]
  }
  const plain = ASCII[unit]
  if (plain !== undefined) return [plain, at + 1]
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
  return [plainOf(character), at + character.length]
}

function plainOf(character: string): string {
  const known = seen.get(character)
  if (known !== undefined) return known
  const letters = Array.from(character.normalize("NFKD").toLowerCase(), plainLetter)
  const plain = letters.join("").slice(0, MAX_EXPANSION)
  if (seen.size >= MAX_SEEN) seen.clear()
  seen.set(character, plain)
  return plain
}

function plainLetter(letter: string): string {
  if (/\s/.test(letter)) return " "
  return INVISIBLE.test(letter) ? "" : (PLAIN.get(letter) ?? letter)
}

const seen = new Map<string, string>()
const ASCII = Array.from({ length: 128 }, (_none, unit) => plainOf(String.fromCharCode(unit)))
