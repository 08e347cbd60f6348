const HEADER_BYTES = 8

/** Takes apart the stream of an attached container, which carries stdout and stderr in the engine's frames. */
export class EngineStream {
  readonly #onBytes: (stream: "stdout" | "stderr", bytes: Buffer) => void
  #header = Buffer.alloc(0)
  #stream: "stdout" | "stderr" = "stdout"
  #left = 0

  constructor(onBytes: (stream: "stdout" | "stderr", bytes: Buffer) => void) {
    this.#onBytes = onBytes
  }

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#left > 0) {
        const end = Math.min(chunk.length, at + this.#left)
        this.#left -= end - at
        this.#onBytes(this.#stream, chunk.subarray(at, end))
        at = end
      } else {
        at = this.#readHeader(chunk, at)
      }
    }
  }

  #readHeader(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + HEADER_BYTES - this.#header.length)
    const header = Buffer.concat([this.#header, chunk.subarray(at, end)])
    if (header.length < HEADER_BYTES) {
      this.#header = header
      return end
    }
    this.#header = Buffer.alloc(0)
    this.#stream = header[0] === 2 ? "stderr" : "stdout"
    this.#left = header.readUInt32BE(4)
    return end
  }
}
