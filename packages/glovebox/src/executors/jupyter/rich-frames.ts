import { readAnswer } from "../sandbox/agent-answers.ts"
import { broken } from "../sandbox/agent-frames.ts"
import type { RichMessage } from "./rich-message.ts"

interface Incoming {
  readonly message: RichMessage & { readonly content: Buffer }
  at: number
}

/** Puts the frames `m` and `d` of a run together; the sender may be hostile, so memory is bounded. */
export class RichFrames {
  readonly #maxBytes: number
  readonly #onMessage: (message: RichMessage) => void
  #open: Incoming | undefined

  constructor(maxBytes: number, onMessage: (message: RichMessage) => void) {
    this.#maxBytes = maxBytes
    this.#onMessage = onMessage
  }

  /** Whether the frame was one of these. */
  take(type: string, payload: Buffer): boolean {
    if (this.#open) {
      if (type !== "d") throw broken(`a frame "${type}" within an output`)
      this.#takePart(this.#open, payload)
      return true
    }
    if (type !== "m") return false
    const { kind, size, dropped } = readAnswer("m", payload)
    if (dropped) this.#onMessage({ kind, size, content: undefined })
    else this.#begin(kind, size)
    return true
  }

  #begin(kind: RichMessage["kind"], size: number): void {
    if (size > this.#maxBytes || size === 0) throw broken(`an output of ${size} bytes`)
    this.#open = { message: { kind, size, content: Buffer.alloc(size) }, at: 0 }
  }

  #takePart(open: Incoming, payload: Buffer): void {
    const { message } = open
    if (payload.length === 0 || open.at + payload.length > message.size) {
      throw broken("an output longer than it said")
    }
    payload.copy(message.content, open.at)
    open.at += payload.length
    if (open.at < message.size) return
    this.#open = undefined
    this.#onMessage(message)
  }
}
