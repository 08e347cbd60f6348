// What a terminal acts on, what nobody can see, and what turns the order of what they see.
const HIDDEN = String.raw`[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{FFF9}-\u{FFFB}]`

// Inside an emoji, and inside words of scripts that are written with them, joiners are seen by what they do.
const SCRIPTS = "Arab Beng Deva Gujr Guru Knda Mlym Mong Orya Sinh Taml Telu".split(" ")
const LETTER = `[${SCRIPTS.map((script) => String.raw`\p{Script=${script}}`).join("")}]`
// Some pictures are letters: a name with a selector in it looks like the same name without.
const PICTURE = String.raw`(?!\p{ID_Continue})\p{Extended_Pictographic}`
const JOINER = [
  String.raw`(?<=${PICTURE}[\u{FE0F}\p{Emoji_Modifier}]?)\u{200D}(?=${PICTURE})`,
  String.raw`(?<=${PICTURE})\u{FE0F}`,
  String.raw`(?<=[0-9#*])\u{FE0F}(?=\u{20E3})`,
  String.raw`(?<=${LETTER})[\u{200C}\u{200D}](?=${LETTER})`,
].join("|")

const COLOR = String.raw`\u{1B}\[[0-9;]*m`

// Blanks that are none for whoever runs the text.
const BLANK = String.raw`(?! )[\p{Zs}\u{2800}]`

const REVEALED = new RegExp(String.raw`(?<kept>[\t\n])|\r\n?|${HIDDEN}|${BLANK}`, "gu")
const VISIBLE = new RegExp(String.raw`(?<kept>[\t\n]|${JOINER})|\r\n?|${HIDDEN}`, "gu")
const SAFE = new RegExp(String.raw`(?<kept>[\t\n\r]|${JOINER}|${COLOR})|${HIDDEN}`, "gu")

/**
 * What a program printed, for a terminal: its colours and its carriage returns may pass; what else a terminal would act
 * on, or nobody would see, is made visible.
 */
export function safeText(text: string): string {
  return text.replace(SAFE, (found, kept?: string) => kept ?? picture(found))
}

/** What somebody said, with all that a terminal would act on, or nobody would see, made visible. */
export function visibleText(text: string): string {
  return shown(text, VISIBLE)
}

/** The same for what somebody is to agree to: also what joins letters, and blanks that only look like a space. */
export function revealedText(text: string): string {
  return shown(text, REVEALED)
}

/** The same in one line, for names and paths. */
export function visibleLine(text: string): string {
  return text.replace(/[\n\r\t]|[^\n\r\t]+/g, (part) =>
    /[\n\r\t]/.test(part) ? picture(part) : visibleText(part),
  )
}

/** JSON in one line for every reader: what some take for the end of a line, or a terminal acts on, is escaped. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(new RegExp(HIDDEN, "gu"), (found) =>
    found.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  )
}

function shown(text: string, pattern: RegExp): string {
  return text.replace(pattern, (found, kept?: string) => {
    if (kept !== undefined) return kept
    // On a terminal the rest of the line would cover its beginning, and for Python a new line begins there.
    if (found.startsWith("\r")) return found === "\r\n" ? "\n" : "␍\n"
    return picture(found)
  })
}

function picture(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  return code === 0x7f ? "␡" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`
}
