import { GloveboxError } from "../../core/index.ts"

const HEADER_BYTES = 5
/** The longest frame an agent sends; a longer one was not sent by it. */
export const LONGEST_ANSWER = 64 * 1024
const ANSWER_TYPES = new Set("Rsoexmfdvc!ta")

export interface AgentFrame {
  readonly type: string
  readonly payload: Buffer
}

/** A frame for the agent. */
export function encodeFrame(type: string, ...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const header = Buffer.alloc(HEADER_BYTES)
  header.write(type, 0, "latin1")
  header.writeUInt32BE(length, 1)
  return Buffer.concat([header, ...parts], HEADER_BYTES + length)
}

export function encodeJsonFrame(type: string, value: unknown): Buffer {
  return encodeFrame(type, Buffer.from(JSON.stringify(value), "utf8"))
}

/** Cuts what an agent sends into frames. The sender may be hostile: memory is bounded, and damage is an error. */
export class AgentFrames {
  readonly #onFrame: (frame: AgentFrame) => void
  // What came of the frame that is not whole yet.
  #parts: Buffer[] = []
  #bytes = 0
  // How many bytes that frame has in all, once its header is known.
  #wanted = HEADER_BYTES
  #header: Buffer | undefined

  constructor(onFrame: (frame: AgentFrame) => void) {
    this.#onFrame = onFrame
  }

  /** Throws SANDBOX_BROKEN on what no agent sends. */
  push(chunk: Buffer): void {
    let rest = chunk
    while (rest.length > 0) {
      const missing = this.#wanted - this.#bytes
      const piece = rest.subarray(0, missing)
      rest = rest.subarray(piece.length)
      this.#parts.push(piece)
      this.#bytes += piece.length
      if (this.#bytes === this.#wanted) this.#complete()
    }
  }

  #complete(): void {
    const whole = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
    if (this.#header === undefined) {
      const length = whole.readUInt32BE(1)
      const type = String.fromCharCode(whole[0]!)
      if (!ANSWER_TYPES.has(type)) throw broken(`a frame of type 0x${whole[0]!.toString(16)}`)
      if (length > LONGEST_ANSWER) throw broken(`a frame of ${length} bytes`)
      this.#header = whole
      this.#reset(length)
      if (length > 0) return
      this.#emit(Buffer.alloc(0))
      return
    }
    this.#emit(whole)
  }

  #emit(payload: Buffer): void {
    const type = String.fromCharCode(this.#header![0]!)
    this.#header = undefined
    this.#reset(HEADER_BYTES)
    this.#onFrame({ type, payload })
  }

  #reset(wanted: number): void {
    this.#parts = []
    this.#bytes = 0
    this.#wanted = wanted
  }
}

/** The sandbox sent what its agent never sends: something in it speaks in the agent's place. */
export function broken(what: string, cause?: unknown): GloveboxError {
  return new GloveboxError(
    "SANDBOX_BROKEN",
    `The sandbox sent ${what}, which its agent never does. The run was ended and its container destroyed; the code may have tampered with it.`,
    cause === undefined ? undefined : { cause },
  )
}
