import { visibleText } from "../../internal/safe-text.ts"
import { paint } from "./paint.ts"

// Longer than any word; it also bounds the work on a text that never ends one.
const LONGEST = 500

/**
 * Where the first part of a line ends that can be drawn whatever follows: after a space that is outside of bold text and
 * code. Undefined as long as none has come.
 */
function inlineEnd(text: string): number | undefined {
  let isCode = false
  let isBold = false
  for (const { 0: found, index } of text.slice(0, LONGEST).matchAll(/`+|\*\*|\s/g)) {
    if (found.startsWith("`")) isCode = !isCode
    else if (found === "**") isBold = isCode ? isBold : !isBold
    else if (!isCode && !isBold) return index + 1
  }
  if (text.length < LONGEST) return undefined
  // Not between two halves of a character.
  return /[\uD800-\uDBFF]/.test(text.charAt(LONGEST - 1)) ? LONGEST - 1 : LONGEST
}

/** The whole parts of a line drawn, and what has to wait. */
export function drawInline(
  line: string,
  isWhole: boolean,
): { readonly drawn: string; readonly rest: string } {
  let drawn = ""
  let rest = line
  for (let end = inlineEnd(rest); end !== undefined; end = inlineEnd(rest)) {
    drawn += drawPart(visibleText(rest.slice(0, end)))
    rest = rest.slice(end)
  }
  return isWhole ? { drawn: drawn + drawPart(visibleText(rest)), rest: "" } : { drawn, rest }
}

const MARKED = /(?<!`)(`{1,2})(?!`)([^`]+)\1(?!`)|\*\*(?=[^\s*])([^*]+)(?<=[^\s*])\*\*/g

function drawPart(text: string): string {
  return text.replace(MARKED, (_found, _ticks, code?: string, bold?: string) =>
    code === undefined ? paint("bold", drawPart(bold ?? "")) : paint("cyan", code),
  )
}
