import type { CodeBlock } from "./code-block.ts"

interface Fence {
  readonly mark: string
  readonly length: number
  /** How many block quotes it is in. */
  readonly quotes: number
  /** As wide as what stands before it inside of those: spaces, or a list's marker. */
  readonly indent: string
  readonly language: string
  readonly lines: string[]
  /** How many fences of the same length are open inside of it. */
  inner: number
}

// Models often wrap a whole document in a fence that is no longer than those inside of it.
const DOCUMENTS = new Set(["markdown", "md"])

const COMMENT = /^ {0,3}<!--/

export interface CodeFencesOptions {
  /** Whether blocks inside of block quotes count, which somebody cites. @default true */
  readonly quoted?: boolean | undefined
}

/**
 * The fenced code blocks of a model's answer, each without its last line end; an untagged one has language "". Those in
 * HTML comments are none.
 */
export function codeFences(markdown: string, { quoted = true }: CodeFencesOptions = {}): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let fence: Fence | undefined
  let isComment = false
  const close = ({ language, lines, quotes }: Fence): void => {
    if (quoted || quotes === 0) blocks.push({ code: lines.join("\n"), language })
    fence = undefined
  }
  for (const line of markdown
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map(withoutCarriageReturn)) {
    if (fence) {
      const content = insideOf(fence, line)
      if (content === undefined) close(withoutTrailingBlanks(fence))
      else if (fence.inner === 0 && closes(fence, content)) close(fence)
      else keep(fence, content)
      if (content !== undefined) continue
    }
    isComment ||= COMMENT.test(line)
    if (!isComment) fence = openingFence(line)
    else if (line.includes("-->")) isComment = false
  }
  // A fence that opens at the very end encloses nothing: it is a stray closing one.
  if (fence?.lines.some((line) => line.trim() !== "") === true) close(withoutTrailingBlanks(fence))
  return blocks
}

function withoutCarriageReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line
}

function withoutTrailingBlanks(fence: Fence): Fence {
  while (fence.lines.at(-1)?.trim() === "") fence.lines.pop()
  return fence
}

function openingFence(line: string): Fence | undefined {
  // Most lines: nothing below needs to look at them.
  if (!line.includes("```") && !line.includes("~~~")) return undefined
  const { quotes, rest } = unquoted(line, Infinity)
  const indent = containerIndent(rest)
  const mark = rest[indent] ?? ""
  const length = mark === "`" || mark === "~" ? runLength(rest, indent, mark) : 0
  if (length < 3) return undefined
  const info = rest.slice(indent + length).trim()
  // CommonMark: with a backtick behind it, it is code within a line.
  if (mark === "`" && info.includes("`")) return undefined
  const blank = rest.slice(0, indent).replaceAll(/[^\t]/g, " ")
  return { mark, length, quotes, indent: blank, language: languageOf(info), lines: [], inner: 0 }
}

/** Takes up to so many block quote marks off a line, each with the space behind it. */
function unquoted(line: string, most: number): { quotes: number; rest: string } {
  let quotes = 0
  let start = 0
  while (quotes < most) {
    let at = start
    while (line[at] === " ") at += 1
    if (line[at] !== ">") break
    start = line[at + 1] === " " ? at + 2 : at + 1
    quotes += 1
  }
  return { quotes, rest: line.slice(start) }
}

/** The length of the spaces and list markers that a line begins with. */
function containerIndent(line: string): number {
  const marker = /[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t])/y
  let end = 0
  while (marker.test(line)) end = marker.lastIndex
  while (line[end] === " " || line[end] === "\t") end += 1
  return end
}

function runLength(line: string, start: number, mark: string): number {
  let end = start
  while (line[end] === mark) end += 1
  return end - start
}

/** A line as the fence's content; undefined when it has left the block quote that the fence is in. */
function insideOf({ quotes, indent }: Fence, line: string): string | undefined {
  const { quotes: found, rest } = unquoted(line, quotes)
  // A blank line without the mark is a slip; the quote goes on.
  if (found < quotes) return line.trim() === "" ? "" : undefined
  if (rest.startsWith(indent)) return rest.slice(indent.length)
  let start = 0
  while (start < indent.length && (rest[start] === " " || rest[start] === "\t")) start += 1
  return rest.slice(start)
}

function closes({ mark, length }: Fence, content: string): boolean {
  let start = 0
  while (start < 3 && content[start] === " ") start += 1
  const found = runLength(content, start, mark)
  return found >= length && content.slice(start + found).trim() === ""
}

function keep(fence: Fence, content: string): void {
  fence.lines.push(content)
  if (!DOCUMENTS.has(fence.language.toLowerCase())) return
  // Those inside may be in lists and quotes of their own.
  if (fence.inner > 0 && closes(fence, content.replace(/^[\s>]+/, ""))) fence.inner -= 1
  else if (opensInside(fence, content)) fence.inner += 1
}

/** Only with a language: without one, it is the fence's own end. */
function opensInside({ mark, length }: Fence, content: string): boolean {
  const inner = openingFence(content)
  return inner !== undefined && inner.mark === mark && inner.length >= length && inner.language !== ""
}

/** `python title="x"`, `python:main.py`, `{.python .numberLines}` and `{python}` are all python. */
function languageOf(info: string): string {
  if (!info.startsWith("{")) return wordOf(info)
  const words = info.slice(1).split(/[\s,}]+/)
  return wordOf(
    words.find((word) => word.startsWith("."))?.slice(1) ?? words.find((word) => word !== "") ?? "",
  )
}

function wordOf(info: string): string {
  const [word = ""] = info.split(/[\s,:;{}]/, 1)
  return /[=#"']/.test(word.replace(/#$/, "")) ? "" : word
}
