import { Duplex } from "node:stream"

/** How much either side may send before the other has taken it. */
const TUNNEL_WINDOW = 256 * 1024
// What a socket gives at once; small enough that one connection does not keep the others waiting.
const PIECE = 64 * 1024

export interface TunnelStreamEnds {
  /** Sends a part of the connection; resolves when there is room for more. */
  send(operation: "d" | "e" | "r" | "w", data?: Buffer): Promise<void> | undefined
}

/** The host's end of a connection that a program in the sandbox made. */
export class TunnelStream extends Duplex {
  readonly #ends: TunnelStreamEnds
  // What the sandbox may send, and what may be sent to it.
  #window = TUNNEL_WINDOW
  #credit = TUNNEL_WINDOW
  #untold = 0
  #onCredit: (() => void) | undefined
  #hasEnded = false
  #isGone = false

  constructor(ends: TunnelStreamEnds) {
    super({ allowHalfOpen: true, readableHighWaterMark: TUNNEL_WINDOW / 2, writableHighWaterMark: PIECE })
    this.#ends = ends
  }

  /** What the program sent; false when it sent more than it may. */
  receive(data: Buffer): boolean {
    this.#window -= data.length
    if (this.#window < 0 || this.#hasEnded) return false
    this.#untold += data.length
    if (this.push(data)) this.#tell()
    return true
  }

  /** The program will send no more. */
  receiveEnd(): void {
    this.#hasEnded = true
    this.push(null)
  }

  /** The program's end is gone. */
  receiveReset(): void {
    this.#isGone = true
    this.destroy()
  }

  addCredit(bytes: number): void {
    this.#credit += bytes
    const go = this.#onCredit
    this.#onCredit = undefined
    go?.()
  }

  override _read(): void {
    this.#tell()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    void this.#send(chunk, done)
  }

  override _final(done: (error?: Error | null) => void): void {
    void this.#ends.send("e")
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const isOver = this.#hasEnded && this.writableFinished
    if (!isOver && !this.#isGone) void this.#ends.send("r")
    this.#isGone = true
    this.addCredit(0)
    done(error)
  }

  async #send(chunk: Buffer, done: () => void): Promise<void> {
    let rest = chunk
    while (rest.length > 0 && !this.#isGone) {
      if (this.#credit <= 0) {
        await new Promise<void>((resolve) => (this.#onCredit = resolve))
        continue
      }
      const piece = rest.subarray(0, Math.min(PIECE, this.#credit))
      rest = rest.subarray(piece.length)
      this.#credit -= piece.length
      await this.#ends.send("d", piece)
    }
    done()
  }

  // In large steps: each is a frame.
  #tell(): void {
    if (this.#untold < TUNNEL_WINDOW / 4 || this.#hasEnded || this.#isGone) return
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(this.#untold)
    this.#window += this.#untold
    this.#untold = 0
    void this.#ends.send("w", bytes)
  }
}
