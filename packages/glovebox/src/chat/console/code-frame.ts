import { visibleLine, visibleText } from "../../internal/safe-text.ts"
import { paint } from "./paint.ts"

// Each run of marks is taken whole, so that a line is read once however it goes on.
const OPENING = /^\s*(`{3,}(?!`)|~{3,}(?!~))/

/** A block of code between fences: framed, with its language and the numbers of its lines. */
export class CodeFrame {
  readonly #fence: string
  /** The language, and whatever stands behind it. */
  readonly #info: string
  #lines = 0

  private constructor(fence: string, info: string) {
    this.#fence = fence
    this.#info = info
  }

  /** The block that a line opens, if it opens one. */
  static open(line: string): CodeFrame | undefined {
    const [opening = "", fence = ""] = OPENING.exec(line) ?? []
    const info = line.slice(opening.length).trim()
    // With a backtick behind it, it is code within a line.
    if (fence === "" || (fence.startsWith("`") && info.includes("`"))) return undefined
    return new CodeFrame(fence, info)
  }

  isClosedBy(line: string): boolean {
    const text = line.trim()
    return text.startsWith(this.#fence) && text === (this.#fence[0] ?? "").repeat(text.length)
  }

  top(): string {
    // Whole, however long: nobody is to hide words behind a language.
    const info = visibleLine(this.#info)
    return `${paint("dim", "    ┌")}${info === "" ? "" : ` ${paint(["bold", "blue"], info)}`}`
  }

  line(code: string): string {
    this.#lines += 1
    return `${paint("dim", `${String(this.#lines).padStart(3)} │`)} ${visibleText(code)}`
  }

  bottom(): string {
    return paint("dim", "    └")
  }
}
