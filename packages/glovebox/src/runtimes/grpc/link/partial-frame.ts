import { GloveboxError } from "../../../core/glovebox-error.ts"
import { decodeMessage } from "../wire/codec.ts"
import type { WireMessage } from "../wire/wire-message.ts"
import { single } from "./frame-bytes.ts"

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024

/** Puts a large frame together from its parts. */
export class PartialFrame {
  readonly #maxBytes: number
  #parts: Uint8Array[] = []
  #size = 0

  constructor(maxBytes: number = DEFAULT_MAX_BYTES) {
    this.#maxBytes = maxBytes
  }

  /** The frame, once its last part is there. */
  add(part: Uint8Array, isMore: boolean): WireMessage | undefined {
    this.#size += part.length
    if (this.#size > this.#maxBytes) {
      throw new GloveboxError("MESSAGE_TOO_LARGE", `A message of more than ${this.#maxBytes} bytes came.`)
    }
    this.#parts.push(part)
    if (isMore) return undefined
    const bytes = Buffer.concat(this.#parts, this.#size)
    this.clear()
    return single(decodeMessage(bytes))
  }

  clear(): void {
    this.#parts = []
    this.#size = 0
  }
}
