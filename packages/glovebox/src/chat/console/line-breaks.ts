/** Makes all ends of lines one, also of text in pieces; a return alone is shown, and ends its line too. */
export class LineBreaks {
  #isHeld = false

  push(piece: string): string {
    const text = this.#isHeld ? `\r${piece}` : piece
    // The other half may be in the next piece.
    this.#isHeld = text.endsWith("\r")
    return breakLines(this.#isHeld ? text.slice(0, -1) : text)
  }

  end(): string {
    const rest = this.#isHeld ? breakLines("\r") : ""
    this.#isHeld = false
    return rest
  }
}

function breakLines(text: string): string {
  return text.replace(/\r\n?/g, (found) => (found === "\r" ? "␍\n" : "\n"))
}
