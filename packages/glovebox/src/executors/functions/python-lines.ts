import { GloveboxError } from "../../core/index.ts"

export interface PythonToken {
  /** A number is read as marks and names: nothing here depends on it. */
  readonly kind: "name" | "string" | "mark"
  readonly text: string
  readonly start: number
  /** How many brackets are open before it, or for a closing one after it. */
  readonly depth: number
}

/** A logical line: brackets, backslashes and strings may carry it over several lines of text. */
export interface PythonLine {
  readonly start: number
  readonly indented: boolean
  readonly tokens: readonly PythonToken[]
}

const SPACE = /(?:[ \t\f]|\\\n)+/y
const COMMENT = /#[^\n]*/y
const STRING_START = /[A-Za-z]{0,2}(?:"""|'''|"|')/y
const STRING_PREFIX = /^(?:[bu]|[frt]|[bft]r|r[bft])?$/i
const NAME = /[\p{XID_Start}_]\p{XID_Continue}*/uy
const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" }

/** Cuts Python source into logical lines of tokens, without running it; FUNCTION_INVALID when it cannot be read. */
export function pythonLines(source: string): PythonLine[] {
  const lines: PythonLine[] = []
  const brackets: { readonly closing: string; readonly start: number }[] = []
  let tokens: PythonToken[] = []
  let at = 0
  const add = (kind: PythonToken["kind"], text: string): void => {
    const closes = kind === "mark" && text === brackets.at(-1)?.closing
    if (closes) brackets.pop()
    else if (kind === "mark" && /[)\]}]/.test(text))
      throw unreadable(source, at, `the ${text} closes nothing`)
    tokens.push({ kind, text, start: at, depth: brackets.length })
    const closing = kind === "mark" ? CLOSING[text] : undefined
    if (closing !== undefined) brackets.push({ closing, start: at })
    at += text.length
  }
  const endLine = (): void => {
    const [first] = tokens
    if (first) lines.push({ start: first.start, indented: isIndented(source, first.start), tokens })
    tokens = []
  }
  while (at < source.length) {
    const skipped = match(SPACE, source, at) ?? match(COMMENT, source, at)
    const name = skipped === undefined ? match(NAME, source, at) : undefined
    const string = skipped === undefined ? match(STRING_START, source, at) : undefined
    const mark = String.fromCodePoint(source.codePointAt(at) ?? 0)
    if (skipped !== undefined) {
      at += skipped.length
    } else if (string !== undefined && STRING_PREFIX.test(string.replaceAll(/["']/g, ""))) {
      add("string", source.slice(at, stringEnd(source, at, string)))
    } else if (name !== undefined) {
      add("name", name)
    } else if (mark === "\n") {
      if (brackets.length === 0) endLine()
      at += 1
    } else if (mark === "\\") {
      throw unreadable(source, at, "a backslash continues a line, but something follows it")
    } else {
      add("mark", mark)
    }
  }
  const open = brackets.at(-1)
  if (open) throw unreadable(source, open.start, `the ${source[open.start]} is never closed`)
  endLine()
  return lines
}

function match(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}

function stringEnd(source: string, start: number, opening: string): number {
  const quote = opening.replace(/^[A-Za-z]+/, "")
  let at = start + opening.length
  while (!source.startsWith(quote, at)) {
    // Also in a raw string, a backslash keeps the quote behind it from closing.
    const width = source[at] === "\\" ? 2 : 1
    if (at >= source.length || (quote.length === 1 && source[at] === "\n")) {
      throw unreadable(source, start, "the string is never closed")
    }
    at += width
  }
  return at + quote.length
}

function isIndented(source: string, at: number): boolean {
  return at > 0 && source[at - 1] !== "\n"
}

/** The number of the line of text that a position is in. */
export function lineNumber(source: string, at: number): number {
  return source.slice(0, at).split("\n").length
}

function unreadable(source: string, at: number, why: string): GloveboxError {
  return new GloveboxError(
    "FUNCTION_INVALID",
    `The Python source cannot be read: in line ${lineNumber(source, at)}, ${why}.`,
  )
}
