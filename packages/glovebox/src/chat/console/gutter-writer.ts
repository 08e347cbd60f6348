import { visibleText } from "../../internal/safe-text.ts"
import { LineBreaks } from "./line-breaks.ts"
import type { TextWriter } from "./text-writer.ts"

// The next piece may have the other half of a character, or go on with an emoji.
const UNFINISHED = /(?:\p{Cs}|[\p{Extended_Pictographic}\p{Emoji_Modifier}\u{FE0F}\u{200D}]+)$/u
const LONGEST_UNFINISHED = 32

/** Draws text with a mark before each line. */
export class GutterWriter implements TextWriter {
  readonly #breaks = new LineBreaks()
  #mark: string
  readonly #nextMark: string
  #held = ""
  #isLineOpen = false

  /** Marks are drawn as they are: one before the first line, one before those that follow. */
  constructor(mark: string, nextMark: string = mark) {
    this.#mark = mark
    this.#nextMark = nextMark
  }

  push(piece: string): string {
    const text = this.#held + this.#breaks.push(piece)
    this.#held = UNFINISHED.exec(text.slice(-LONGEST_UNFINISHED))?.[0] ?? ""
    return this.#draw(text.slice(0, text.length - this.#held.length))
  }

  end(): string {
    const drawn = this.#draw(this.#held + this.#breaks.end())
    this.#held = ""
    return this.#isLineOpen ? drawn + this.#endLine() : drawn
  }

  #draw(text: string): string {
    if (text === "") return ""
    const lines = visibleText(text).split("\n")
    const last = lines.pop() ?? ""
    const whole = lines.map((line) => `${this.#begin()}${line}${this.#endLine()}`).join("")
    return last === "" ? whole : `${whole}${this.#begin()}${last}`
  }

  #begin(): string {
    if (this.#isLineOpen) return ""
    this.#isLineOpen = true
    const mark = this.#mark
    this.#mark = this.#nextMark
    return mark
  }

  #endLine(): string {
    this.#isLineOpen = false
    return "\n"
  }
}
