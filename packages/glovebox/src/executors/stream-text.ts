/** Decodes the bytes of one stream as they arrive; a character split over chunks comes whole, with the later one. */
export class StreamText {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true })

  push(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes, { stream: true })
  }

  /** What is left when the stream ends: U+FFFD for a character that never became whole. */
  end(): string {
    return this.#decoder.decode()
  }
}
