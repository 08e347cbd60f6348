const OPEN = "<think>"
const CLOSE = "</think>"

/** Keeps reasoning that stands at the start of a streamed text, `<think>` to `</think>`, out of what is shown. */
export class ThoughtFilter {
  #state: "start" | "thinking" | "after" | "open" = "start"
  #held = ""

  /** The text to show now. */
  add(piece: string): string {
    if (this.#state === "open") return piece
    this.#held += piece
    if (this.#state === "start" && !this.#begins())
      return this.#held.trimStart() === "" ? "" : this.#release()
    if (this.#state === "thinking") {
      const end = this.#held.indexOf(CLOSE)
      if (end === -1) return ""
      this.#held = this.#held.slice(end + CLOSE.length)
      this.#state = "after"
    }
    if (this.#state !== "after") return ""
    const text = this.#held.trimStart()
    return text === "" ? "" : this.#release(text)
  }

  /** What is held back at the end: a tag that was never closed was none. */
  end(): string {
    return this.#state === "after" ? "" : this.#release()
  }

  /** True while the text may still begin with the tag. */
  #begins(): boolean {
    const text = this.#held.trimStart()
    if (text.startsWith(OPEN)) this.#state = "thinking"
    return text !== "" && (text.startsWith(OPEN) || OPEN.startsWith(text))
  }

  #release(text = this.#held): string {
    this.#held = ""
    this.#state = "open"
    return text
  }
}
