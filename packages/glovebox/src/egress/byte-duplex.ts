import { Duplex } from "node:stream"
import type { ByteStream } from "./byte-stream.ts"

/** A byte stream as Node's own kind of stream, for TLS to run over it; gone with it, and it with this. */
export class ByteDuplex extends Duplex {
  readonly #stream: ByteStream
  #isReading = false

  constructor(stream: ByteStream) {
    super({ allowHalfOpen: true })
    this.#stream = stream
    // Whoever runs over it hears of its end; nobody else has to.
    this.on("error", () => {})
  }

  override _read(): void {
    if (this.#isReading) return
    this.#isReading = true
    void this.#readOnce()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    void settle(this.#stream.write(chunk), done)
  }

  override _final(done: (error?: Error | null) => void): void {
    void settle(this.#stream.finish(), done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stream.destroy()
    done(error)
  }

  async #readOnce(): Promise<void> {
    try {
      const chunk = await this.#stream.read()
      this.#isReading = false
      this.push(chunk ?? null)
    } catch (error) {
      this.destroy(error instanceof Error ? error : undefined)
    }
  }
}

async function settle(work: Promise<void>, done: (error?: Error | null) => void): Promise<void> {
  let failure: Error | undefined
  try {
    await work
  } catch (error) {
    failure = error instanceof Error ? error : new Error("the stream is gone")
  }
  done(failure)
}
