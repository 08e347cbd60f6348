import { type Style, paint } from "./paint.ts"
import type { TextWriter } from "./text-writer.ts"

/** Draws what another writer draws in a style. */
export class StyledWriter implements TextWriter {
  readonly #writer: TextWriter
  readonly #style: Style

  constructor(writer: TextWriter, style: Style) {
    this.#writer = writer
    this.#style = style
  }

  push(text: string): string {
    return this.#paint(this.#writer.push(text))
  }

  end(): string {
    return this.#paint(this.#writer.end())
  }

  // By lines: a style that goes on over the end of a line colours more than its text on some terminals.
  #paint(drawn: string): string {
    return drawn.replace(/[^\n]+/g, (line) => paint(this.#style, line))
  }
}
