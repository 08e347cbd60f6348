import { GloveboxError } from "../../core/index.ts"
import { formatBytes } from "../../policy/index.ts"
import { ByteQueue } from "./byte-queue.ts"
import { type Frame, PREFIX_BYTES } from "./frame.ts"

// Empty ones cost their sender two bytes.
const MAX_BLOBS = 10_000

/** Puts frames together again from pieces of any size, and holds no more than it was allowed to. */
export class FrameReader {
  readonly #queue = new ByteQueue()
  #lengths: readonly [head: number, body: number] | undefined
  #budget: number

  /** The most that all frames may have, less those whose bytes are given back. */
  constructor(budget: number) {
    this.#budget = budget
  }

  /** True between two frames. */
  get isWhole(): boolean {
    return this.#queue.length === 0 && this.#lengths === undefined
  }

  push(bytes: Uint8Array): void {
    this.#queue.push(bytes)
  }

  /** The next frame that is whole, and how many bytes it had. */
  next(): { readonly frame: Frame; readonly size: number } | undefined {
    if (!this.#lengths) {
      if (this.#queue.length < PREFIX_BYTES) return undefined
      const prefix = this.#queue.take(PREFIX_BYTES)
      this.#lengths = [prefix.readUInt32BE(0), prefix.readUInt32BE(4)]
      this.#spend(this.#lengths[0] + this.#lengths[1] + PREFIX_BYTES)
    }
    const [head, body] = this.#lengths
    if (this.#queue.length < head + body) return undefined
    this.#lengths = undefined
    return { frame: this.#read(head, body), size: head + body + PREFIX_BYTES }
  }

  /** A frame is not kept: its bytes may be spent again. */
  giveBack(size: number): void {
    this.#budget += size
  }

  #spend(bytes: number): void {
    if (bytes > this.#budget) {
      throw new GloveboxError(
        "MESSAGE_TOO_LARGE",
        `What comes is more than is taken: ${formatBytes(bytes)} more, where ${formatBytes(this.#budget)} are left.`,
      )
    }
    this.#budget -= bytes
  }

  #read(headLength: number, bodyLength: number): Frame {
    const text = new TextDecoder("utf-8", { fatal: true })
    try {
      const { head, sizes } = JSON.parse(text.decode(this.#queue.take(headLength))) as {
        readonly head: unknown
        readonly sizes: readonly unknown[]
      }
      if (sizes.length > MAX_BLOBS) throw broken()
      const blobs = sizes.map((size) => {
        if (typeof size !== "number" || !Number.isInteger(size) || size < 0 || size > bodyLength)
          throw broken()
        // A copy of its own, so that a small one does not keep a large message in memory.
        return new Uint8Array(this.#queue.take(size))
      })
      if (blobs.reduce((sum, { length }) => sum + length, 0) !== bodyLength) throw broken()
      return { head, blobs }
    } catch (cause) {
      throw GloveboxError.is(cause) ? cause : broken(cause)
    }
  }
}

function broken(cause?: unknown): GloveboxError {
  return new GloveboxError("REPLY_INVALID", "What came is no frame of a run.", { cause })
}
