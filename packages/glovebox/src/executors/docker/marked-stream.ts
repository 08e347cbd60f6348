/** Tells output from the marker that ends it: what a program printed, up to the marker, then the rest of its line. */
export class MarkedStream {
  readonly #marker: Buffer
  readonly #onBytes: (bytes: Buffer) => void
  readonly #longestLine: number
  // What could be the beginning of the marker, or the line behind it.
  #held = Buffer.alloc(0)
  #isMarked = false
  #line: string | undefined

  constructor(marker: string, onBytes: (bytes: Buffer) => void, longestLine = 256) {
    this.#marker = Buffer.from(marker, "latin1")
    this.#onBytes = onBytes
    this.#longestLine = longestLine
  }

  /** The line behind the marker, without it, once it is whole. */
  get line(): string | undefined {
    return this.#line
  }

  /** Gives back false for bytes that no agent sends: behind the line, or a line without end. */
  push(bytes: Buffer): boolean {
    if (this.#line !== undefined) return bytes.length === 0
    const data = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    if (this.#isMarked) return this.#readLine(data)
    const at = data.indexOf(this.#marker)
    if (at >= 0) {
      this.#isMarked = true
      if (at > 0) this.#onBytes(data.subarray(0, at))
      return this.#readLine(data.subarray(at + this.#marker.length))
    }
    const kept = this.#beginningAtEnd(data)
    if (kept < data.length) this.#onBytes(data.subarray(0, data.length - kept))
    this.#held = Buffer.from(data.subarray(data.length - kept))
    return true
  }

  #readLine(data: Buffer): boolean {
    const end = data.indexOf(10)
    if (end < 0) {
      this.#held = Buffer.from(data)
      return data.length <= this.#longestLine
    }
    this.#line = data.subarray(0, end).toString("latin1").trim()
    return end === data.length - 1
  }

  // How many of the last bytes may be the first of the marker.
  #beginningAtEnd(data: Buffer): number {
    const longest = Math.min(this.#marker.length - 1, data.length)
    for (let length = longest; length > 0; length -= 1) {
      if (data.subarray(data.length - length).equals(this.#marker.subarray(0, length))) return length
    }
    return 0
  }
}
