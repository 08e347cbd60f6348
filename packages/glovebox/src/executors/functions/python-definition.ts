import { GloveboxError } from "../../core/index.ts"
import { type PythonLine, type PythonToken, lineNumber, pythonLines } from "./python-lines.ts"
import { isPythonName } from "./python-names.ts"

export interface PythonDefinition {
  readonly name: string
  /** From `def` or `async def` up to the colon, on one line and without comments. */
  readonly signature: string
  readonly docstring?: string | undefined
}

/** Reads the one function that Python source defines, without running it. */
export function readPythonDefinition(source: string): PythonDefinition {
  const lines = pythonLines(source)
  checkTopLevel(source, lines)
  const found = lines.flatMap((line, index) => (isDefinition(line) ? [{ line, index }] : []))
  const [first, ...others] = found
  if (!first) throw invalid("The Python source defines no function. Write one `def` that is not indented.")
  const header = readHeader(first.line)
  if (others.length > 0) {
    const names = found.map(({ line }) => readHeader(line).name).join(", ")
    throw invalid(
      `The Python source defines ${found.length} functions: ${names}. Pass each one by itself, or put helpers inside it.`,
    )
  }
  const next = lines[first.index + 1]
  const body = header.body.length > 0 ? header.body : next?.indented === true ? next.tokens : []
  if (body.length === 0) throw invalid(`The Python function ${header.name} has no body.`)
  return { name: header.name, signature: header.signature, docstring: docstringOf(body) }
}

function isDefinition({ indented, tokens: [first, second] }: PythonLine): boolean {
  return !indented && (first?.text === "def" || (first?.text === "async" && second?.text === "def"))
}

/** Only what a function may bring along: its decorators, imports, and a text that describes the file. */
function checkTopLevel(source: string, lines: readonly PythonLine[]): void {
  let previous: PythonLine | undefined
  for (const line of lines) {
    const reason = line.indented ? indentProblem(previous) : topLevelProblem(line, previous)
    if (reason !== undefined) {
      throw invalid(`Line ${lineNumber(source, line.start)} of the Python source ${reason}.`)
    }
    if (!line.indented) previous = line
  }
  if (previous?.tokens[0]?.text === "@") throw invalid("The Python source ends with a decorator.")
}

function indentProblem(previous: PythonLine | undefined): string | undefined {
  return previous && isDefinition(previous) ? undefined : "is indented, but in no function"
}

function topLevelProblem(line: PythonLine, previous: PythonLine | undefined): string | undefined {
  if (isDefinition(line)) return undefined
  if (previous?.tokens[0]?.text === "@" && line.tokens[0]?.text !== "@") {
    return "should be the function that the decorator above it is for"
  }
  return isCompanion(line)
    ? undefined
    : "is neither an import nor part of the function. Put it inside the function"
}

function isCompanion({ tokens }: PythonLine): boolean {
  const [first, second] = tokens
  if (first?.text === "@" || tokens.every(({ kind }) => kind === "string")) return true
  // Such an import must be a file's first statement, and the functions share one file.
  if (first?.text === "from" && second?.text === "__future__") return false
  const isImport = first?.text === "import" || first?.text === "from"
  return isImport && tokens.every(({ text }) => text !== ";")
}

interface Header {
  readonly name: string
  readonly signature: string
  /** What follows the colon on the same line. */
  readonly body: readonly PythonToken[]
}

function readHeader({ tokens }: PythonLine): Header {
  const nameAt = tokens[0]?.text === "async" ? 2 : 1
  const name = tokens[nameAt]
  if (name?.kind !== "name" || !isPythonName(name.text)) {
    throw invalid(`The Python function has no usable name: ${name?.text ?? "nothing"} follows def.`)
  }
  const colon = tokens.findIndex(({ text, depth }) => text === ":" && depth === 0)
  const rest = tokens.slice(nameAt + 1, colon === -1 ? 0 : colon)
  // The brackets of type parameters may come first; an arrow and a type may follow.
  const outline = rest.filter(({ depth }) => depth === 0).map(({ text }) => text)
  if (!/^(?:\[ \] )?\( \)(?: - > .+)?$/.test(outline.join(" "))) {
    throw invalid(`The Python function ${name.text} lacks its list of parameters, or the colon behind it.`)
  }
  return { name: name.text, signature: oneLine(tokens.slice(0, colon)), body: tokens.slice(colon + 1) }
}

function oneLine(tokens: readonly PythonToken[]): string {
  let text = ""
  let previous: PythonToken | undefined
  for (const token of tokens) {
    const apart = previous !== undefined && token.start > previous.start + previous.text.length
    const inBracket = /^[([{]$/.test(previous?.text ?? "") || /^[)\]}]$/.test(token.text)
    text += apart && !inBracket ? ` ${token.text}` : token.text
    previous = token
  }
  return text
}

function docstringOf(body: readonly PythonToken[]): string | undefined {
  const end = body.findIndex(({ text }) => text === ";")
  const statement = end === -1 ? body : body.slice(0, end)
  if (statement.length === 0 || !statement.every(isText)) return undefined
  const text = trimmedLines(statement.map((token) => stringValue(token.text)).join(""))
  return text === "" ? undefined : text
}

function isText({ kind, text }: PythonToken): boolean {
  return kind === "string" && !/^[a-z]*[bft]/i.test(text)
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\n": "",
  n: "\n",
  t: "\t",
  "\\": "\\",
  "'": "'",
  '"': '"',
}

function stringValue(literal: string): string {
  const [opening = "", prefix = "", quote = ""] = /^([a-z]*)("""|'''|"|')/i.exec(literal) ?? []
  const content = literal.slice(opening.length, -quote.length)
  if (/r/i.test(prefix)) return content
  return content.replaceAll(/\\([\s\S])/g, (escape, letter: string) => ESCAPES[letter] ?? escape)
}

/** As Python's inspect.cleandoc: the indentation that all lines but the first share goes, and blank lines around. */
function trimmedLines(text: string): string {
  const [first = "", ...others] = text.replaceAll("\t", "        ").split("\n")
  const indents = others.filter((line) => line.trim() !== "").map((line) => line.search(/\S/))
  const indent = indents.reduce((least, width) => Math.min(least, width), Infinity)
  return [first.trimStart(), ...others.map((line) => line.slice(indent))]
    .map((line) => line.trimEnd())
    .join("\n")
    .replace(/^\n+/, "")
    .trimEnd()
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("FUNCTION_INVALID", message)
}
