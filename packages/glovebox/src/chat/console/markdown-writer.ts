import { visibleText } from "../../internal/safe-text.ts"
import { CodeFrame } from "./code-frame.ts"
import { drawInline } from "./inline-markdown.ts"
import { LineBreaks } from "./line-breaks.ts"
import { type Style, paint } from "./paint.ts"
import type { TextWriter } from "./text-writer.ts"

// Fences and lines of tables are drawn whole.
const WHOLE = /^\s*(?:`{3}|~{3}|\|)/
// May still become a rule, a fence or something with a mark.
const UNCLEAR = /^[-*_\s]*$|^\s*\S+\s*$/
const LONGEST_UNCLEAR = 200
const RULE = /^\s{0,3}([-*_])(?:\s*\1){2,}\s*$/

/** Draws the markdown that models write: headings, bold text, lists, quotes and code. All else stays as it is. */
export class MarkdownWriter implements TextWriter {
  readonly #breaks = new LineBreaks()
  #rest = ""
  #style: Style | undefined
  /** Whether the beginning of the line is drawn already. */
  #isBegun = false
  #isWhole = false
  #frame: CodeFrame | undefined

  push(piece: string): string {
    return this.#draw(this.#breaks.push(piece))
  }

  end(): string {
    const drawn = this.#draw(this.#breaks.end())
    const last = this.#isBegun || this.#rest !== "" ? `${this.#endLine()}\n` : ""
    const frame = this.#frame ? `${this.#frame.bottom()}\n` : ""
    this.#frame = undefined
    return drawn + last + frame
  }

  #draw(text: string): string {
    const lines = text.split("\n")
    const last = lines.pop() ?? ""
    let drawn = ""
    for (const line of lines) {
      this.#rest += line
      drawn += `${this.#endLine()}\n`
    }
    this.#rest += last
    return drawn + this.#drawBeginning()
  }

  /** As much of a line as will not change by what follows. */
  #drawBeginning(): string {
    if (this.#frame || this.#isWhole || this.#rest === "") return ""
    if (!this.#isBegun) {
      this.#isWhole = WHOLE.test(this.#rest)
      if (this.#isWhole || (this.#rest.length < LONGEST_UNCLEAR && UNCLEAR.test(this.#rest))) return ""
    }
    return this.#drawText(false)
  }

  #endLine(): string {
    const line = this.#rest
    this.#isWhole = false
    if (!this.#isBegun) {
      const whole = this.#wholeLine(line)
      if (whole !== undefined) {
        this.#rest = ""
        return whole
      }
    }
    const drawn = this.#drawText(true)
    this.#isBegun = false
    this.#style = undefined
    return drawn
  }

  /** Lines that are drawn as one. */
  #wholeLine(line: string): string | undefined {
    if (this.#frame) {
      if (!this.#frame.isClosedBy(line)) return this.#frame.line(line)
      const bottom = this.#frame.bottom()
      this.#frame = undefined
      return bottom
    }
    this.#frame = CodeFrame.open(line)
    if (this.#frame) return this.#frame.top()
    if (line.length < LONGEST_UNCLEAR && RULE.test(line)) return paint("dim", "─".repeat(20))
    return line.trimStart().startsWith("|") ? visibleText(line) : undefined
  }

  #drawText(isWhole: boolean): string {
    const mark = this.#isBegun ? "" : this.#begin()
    const { drawn, rest } = drawInline(this.#rest, isWhole)
    this.#rest = rest
    return mark + (this.#style === undefined ? drawn : paint(this.#style, drawn))
  }

  /** Takes the mark of a heading, a list or a quote off the line, and draws it. */
  #begin(): string {
    this.#isBegun = true
    const heading = /^ {0,3}(#{1,6})\s+/.exec(this.#rest)
    if (heading) {
      this.#style = heading[1] === "#" ? ["bold", "underline"] : "bold"
      this.#rest = this.#rest.slice(heading[0].length)
      return ""
    }
    const [mark, indent = "", sign] = /^(\s*)(?:([-*+])\s+|>\s?)(?=\S)/.exec(this.#rest) ?? []
    if (mark === undefined) return ""
    this.#rest = this.#rest.slice(mark.length)
    if (sign === undefined) this.#style = "italic"
    return visibleText(indent) + (sign === undefined ? paint("dim", "▏ ") : "• ")
  }
}
