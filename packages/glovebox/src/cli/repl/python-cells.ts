const CONTINUES = /^(?:else|elif|except|finally|case)\b/

/** Gathers lines of Python into cells: a statement of its own, or a block up to the blank line that ends it. */
export class PythonCells {
  readonly #looksAhead: boolean
  #lines: string[] = []

  /** @param looksAhead where nobody types: a blank line within a block is only known by the line after it */
  constructor({ looksAhead }: { readonly looksAhead: boolean }) {
    this.#looksAhead = looksAhead
  }

  /** Whether a cell has begun and is not complete. */
  get isOpen(): boolean {
    return this.#lines.length > 0
  }

  /** The cells that this line completes. */
  push(line: string): string[] {
    const isEnd = this.#looksAhead && this.#mayEnd() && isNewStatement(line)
    const before = isEnd ? this.end() : []
    if (this.#lines.length === 0 && line.trim() === "") return before
    this.#lines.push(line)
    return this.#isComplete() ? [...before, ...this.end()] : before
  }

  /** What is there when no more lines come. */
  end(): string[] {
    const cell = this.#lines.join("\n").trimEnd()
    this.#lines = []
    return cell === "" ? [] : [cell]
  }

  reset(): void {
    this.#lines = []
  }

  // The body of a block has begun: the next statement at the margin is not of it.
  #mayEnd(): boolean {
    const last = this.#lines.at(-1)
    return last !== undefined && /^\s|^$/.test(last) && scan(this.#lines.join("\n")) === "closed"
  }

  #isComplete(): boolean {
    // A command of the notebook is one line, in a language of its own.
    if (/^\s*(?:!|%(?!%))/.test(this.#lines[0] ?? "")) return true
    if (scan(this.#lines.join("\n")) === "open") return false
    if (!isBlock(this.#lines)) return true
    return !this.#looksAhead && this.#lines.at(-1)?.trim() === ""
  }
}

function isNewStatement(line: string): boolean {
  return line.trim() !== "" && !/^[\s#]/.test(line) && !CONTINUES.test(line)
}

// A line that ends with a colon, a decorator, and a magic of a whole cell have more lines to come.
function isBlock(lines: readonly string[]): boolean {
  const [first = ""] = lines
  if (/^\s*@/.test(first) || first.startsWith("%%")) return true
  const logical = withoutTexts(lines.join("\n")).split("\n")
  return logical.some((line) => /:\s*$/.test(line))
}

/** Whether brackets, texts of several lines or a backslash ask for more. */
function scan(source: string): "open" | "closed" {
  let depth = 0
  const rest = withoutTexts(source)
  if (rest.includes(OPEN_TEXT)) return "open"
  for (const character of rest) {
    if ("([{".includes(character)) depth += 1
    if (")]}".includes(character)) depth = Math.max(0, depth - 1)
  }
  return depth > 0 || rest.endsWith("\\") ? "open" : "closed"
}

const OPEN_TEXT = "\u0000"
const TEXT =
  /(?<quote>"""|''')(?:\\[^]|(?!\k<quote>)[^])*(?<end>\k<quote>)?|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|#.*/g

// Texts and comments could hold anything; a text of several lines that does not end is marked.
function withoutTexts(source: string): string {
  return source.replace(TEXT, (found, ...groups) => {
    const { quote, end } = groups.at(-1) as { readonly quote?: string; readonly end?: string }
    if (quote !== undefined && end === undefined) return OPEN_TEXT
    return found.startsWith("#") ? "" : "_"
  })
}
