import { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { TLSSocket } from "node:tls"

/** A stream that was reset or destroyed before its end. */
export class StreamGone extends Error {
  override readonly name = "StreamGone"
  readonly stream: ByteStream

  constructor(stream: ByteStream) {
    super("the stream is gone")
    this.stream = stream
  }
}

/**
 * One end of a connection, read when there is use for more and never ahead of the stream's own buffer. All its errors
 * are StreamGone where someone waits, and nobody's elsewhere.
 */
export class ByteStream {
  readonly #stream: Duplex
  #rest: Buffer | undefined
  #hasEnded = false
  #interruption: Error | undefined
  #hasFailed = false
  readonly #waiting = new Set<() => void>()

  constructor(stream: Duplex) {
    this.#stream = stream
    for (const event of ["readable", "end", "drain", "finish", "close"]) stream.on(event, () => this.#wake())
    stream.on("error", () => {
      this.#hasFailed = true
      this.#wake()
    })
  }

  /** Whether it ended with an error. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Calls back when the stream goes before both its sides have ended. */
  onReset(callback: () => void): void {
    const check = (): void => {
      if (!this.#stream.readableEnded || !this.#stream.writableFinished) callback()
    }
    if (this.#stream.closed) check()
    else this.#stream.once("close", check)
  }

  /** The next bytes; undefined at the end. */
  async read(): Promise<Buffer | undefined> {
    for (;;) {
      if (this.#interruption) {
        const interruption = this.#interruption
        this.#interruption = undefined
        throw interruption
      }
      if (this.#rest) {
        const rest = this.#rest
        this.#rest = undefined
        return rest
      }
      if (this.#hasEnded) return undefined
      // Also of a stream that is gone: what came before is still there.
      const chunk = this.#stream.read() as Buffer | null
      if (chunk !== null && chunk.length > 0) return chunk
      if (this.#stream.readableEnded) this.#hasEnded = true
      else if (this.#stream.destroyed) throw new StreamGone(this)
      else await this.#change()
    }
  }

  /** Exactly so many bytes; undefined when the end comes first. */
  async readExactly(count: number): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    let length = 0
    while (length < count) {
      const chunk = await this.read()
      if (!chunk) return undefined
      parts.push(chunk)
      length += chunk.length
    }
    const all = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    this.unread(all.subarray(count))
    return all.subarray(0, count)
  }

  /** Puts back what was read too far. */
  unread(bytes: Buffer): void {
    if (bytes.length > 0) this.#rest = this.#rest ? Buffer.concat([bytes, this.#rest]) : bytes
  }

  /** Makes whoever reads, or the next to, fail with the error; undefined takes that back. */
  interrupt(error: Error | undefined): void {
    this.#interruption = error
    this.#wake()
  }

  /** Writes a few bytes, without waiting for room. */
  send(bytes: Buffer): void {
    if (!this.#stream.destroyed && !this.#stream.writableEnded) this.#stream.write(bytes)
  }

  /** Resolves when there is room for more. */
  async write(bytes: Buffer): Promise<void> {
    if (this.#stream.destroyed || this.#stream.writableEnded) throw new StreamGone(this)
    if (this.#stream.write(bytes)) return
    while (this.#stream.writableNeedDrain) {
      if (this.#stream.destroyed) throw new StreamGone(this)
      await this.#change()
    }
    if (this.#stream.destroyed) throw new StreamGone(this)
  }

  /** Ends its writable side; resolves when all that was written is on its way. */
  async finish(): Promise<void> {
    if (!this.#stream.writableEnded && !this.#stream.destroyed) this.#stream.end()
    while (!this.#stream.writableFinished) {
      if (this.#stream.destroyed) throw new StreamGone(this)
      await this.#change()
    }
  }

  /** Resolves when all that was written is on its way, or the stream is gone. */
  async flush(): Promise<void> {
    while (this.#stream.writableLength > 0 && !this.#stream.destroyed) {
      const change = this.#change()
      // Nothing tells of an empty buffer, unless it was full before.
      if (!this.#stream.writableEnded) this.#stream.write(Buffer.alloc(0), () => this.#wake())
      await change
    }
  }

  /** Ends it so that the other side cannot take what it has for all there was to come. */
  reset(): void {
    // Over another stream there is nothing to reset; without its last word TLS is known to be cut.
    if (this.#stream instanceof Socket && !(this.#stream instanceof TLSSocket)) this.#stream.resetAndDestroy()
    else this.#stream.destroy()
  }

  destroy(): void {
    this.#stream.destroy()
  }

  #wake(): void {
    for (const go of this.#waiting) go()
    this.#waiting.clear()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve))
  }
}
