import { visibleLine, visibleText } from "../../internal/safe-text.ts"
import { paint } from "./paint.ts"

const OPENING = /^\s*(`{3,}|~{3,})\s*([^`]*)$/
const LONGEST_LANGUAGE = 40

/** A block of code between fences: framed, with its language and the numbers of its lines. */
export class CodeFrame {
  readonly #fence: string
  readonly #language: string
  #lines = 0

  private constructor(fence: string, language: string) {
    this.#fence = fence
    this.#language = language
  }

  /** The block that a line opens, if it opens one. */
  static open(line: string): CodeFrame | undefined {
    const [, fence, language] = OPENING.exec(line) ?? []
    return fence === undefined ? undefined : new CodeFrame(fence, language?.trim() ?? "")
  }

  isClosedBy(line: string): boolean {
    const text = line.trim()
    return text.startsWith(this.#fence) && text === (this.#fence[0] ?? "").repeat(text.length)
  }

  top(): string {
    const language = visibleLine(this.#language.slice(0, LONGEST_LANGUAGE))
    return `${paint("dim", "    ┌")}${language === "" ? "" : ` ${paint(["bold", "blue"], language)}`}`
  }

  line(code: string): string {
    this.#lines += 1
    return `${paint("dim", `${String(this.#lines).padStart(3)} │`)} ${visibleText(code)}`
  }

  bottom(): string {
    return paint("dim", "    └")
  }
}
