// Colours may pass; what moves the cursor, sets the title or reaches the clipboard may not.
const ESCAPE = String.fromCodePoint(0x1b)
const CONTROLS = new RegExp(`${ESCAPE}\\[[0-9;]*m|[^\\P{Cc}\\t\\n\\r]`, "gu")

/** What code printed, with the control characters that a terminal would act on made visible. */
export function safeText(text: string): string {
  return text.replace(CONTROLS, (found) => {
    if (found.length > 1) return found
    const code = found.codePointAt(0) ?? 0
    // The picture of the character, where there is one.
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : "\u{fffd}"
  })
}
