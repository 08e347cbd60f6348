import { Duplex } from "node:stream"

/** A client without a socket: what it sends is given in pieces, what it gets is kept. */
export class MemoryClient extends Duplex {
  received = ""
  readonly gone: Promise<void>
  readonly #pieces: (Buffer | null)[]

  constructor(pieces: readonly (Buffer | null)[]) {
    super({ allowHalfOpen: true })
    this.#pieces = [...pieces]
    this.gone = new Promise((resolve) => this.once("close", () => resolve()))
  }

  /** The bytes cut at these places, and then the end. */
  static of(bytes: Buffer, cuts: readonly number[] = []): MemoryClient {
    const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b)
    const pieces = [0, ...places].map((from, at) => bytes.subarray(from, places[at] ?? bytes.length))
    return new MemoryClient([...pieces.filter((piece) => piece.length > 0), null])
  }

  /** How many pieces were not asked for. */
  get left(): number {
    return this.#pieces.length
  }

  override _read(): void {
    if (this.#pieces.length > 0) setImmediate(() => this.push(this.#pieces.shift()))
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.received += chunk.toString("latin1")
    done()
  }
}
