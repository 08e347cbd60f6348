import { visibleLine, visibleText } from "../../internal/safe-text.ts"

/** A name and what is said of it; nothing is said of what is undefined or empty. */
export type Row = readonly [name: string, value: string | undefined]

const NAME_WIDTH = 9
const MAX_VALUE = 2_000
const MAX_TEXT_LINES = 200
const MAX_TEXT_LINE = 500

/** A title with rows under it, in which nothing hides. */
export function rowLines(title: string, rows: readonly Row[], indent: string): string[] {
  const lines = rows.flatMap(([name, value]) =>
    value ? [`${indent}  ${name.padEnd(NAME_WIDTH)} ${visibleLine(cut(value, MAX_VALUE))}`] : [],
  )
  return [`${indent}${visibleLine(cut(title, MAX_VALUE))}`, ...lines]
}

/** Text of several lines, each behind a bar, so that none of it can be taken for a part of the account. */
export function textLines(text: string | undefined, indent: string): string[] {
  if (text === undefined || text === "") return []
  const lines = visibleText(text.endsWith("\n") ? text.slice(0, -1) : text).split("\n")
  const more = lines.length - MAX_TEXT_LINES
  return [
    ...lines.slice(0, MAX_TEXT_LINES).map((line) => `${indent}  | ${cut(line, MAX_TEXT_LINE)}`),
    ...(more > 0 ? [`${indent}  (${more} more lines)`] : []),
  ]
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}
