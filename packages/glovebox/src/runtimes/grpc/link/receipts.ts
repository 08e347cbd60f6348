import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { Beat } from "../wire/wire-message.ts"

// Far less than what the other side may send without hearing of it.
const TELL_EVERY = 256
const TELL_EVERY_BYTES = 256 * 1024
const TELL_WITHIN_MS = 20

/** How far the other side was heard, and what of it is to be told: with the next frames, or alone a little later. */
export class Receipts {
  readonly #tell: () => void
  #timer: NodeJS.Timeout | undefined
  #received = 0
  #told = 0
  #untoldBytes = 0
  #ping = 0
  #pong = 0

  constructor(tell: () => void) {
    this.#tell = tell
  }

  get received(): number {
    return this.#received
  }

  /** Counts the next frame; false for one that came before. */
  take(seq: number): boolean {
    // Sent again by a side that could not know that it was received.
    if (seq > 0 && seq <= this.#received) return false
    if (seq !== this.#received + 1) {
      throw new GloveboxError("CONNECTION_LOST", `Message ${seq} came after message ${this.#received}.`)
    }
    this.#received = seq
    return true
  }

  /** Sees to it that what came in these bytes is told. */
  came(bytes: number, isAwaited: boolean): void {
    if (this.#received === this.#told) return
    this.#untoldBytes += bytes
    const isMuch = this.#received - this.#told >= TELL_EVERY || this.#untoldBytes >= TELL_EVERY_BYTES
    if (isMuch || isAwaited) this.#tell()
    else this.#timer ??= setTimeout(this.#tellLate, TELL_WITHIN_MS).unref()
  }

  ask(ping: number): void {
    this.#ping = ping
    this.#tell()
  }

  answer(ping: number): void {
    this.#pong = ping
    this.#tell()
  }

  /** What there is to tell, taken as told. */
  next(): Beat | undefined {
    const isNews = this.#received !== this.#told
    if (!isNews && this.#ping === 0 && this.#pong === 0) return undefined
    const beat: { received?: number; ping?: number; pong?: number } = {}
    if (isNews) beat.received = this.#received
    if (this.#ping > 0) beat.ping = this.#ping
    if (this.#pong > 0) beat.pong = this.#pong
    this.#told = this.#received
    this.#untoldBytes = 0
    this.#ping = 0
    this.#pong = 0
    // The timer runs on: to end it and to begin another with each message would cost more than what it may tell too early.
    return beat
  }

  /** Another stream: nothing of what was told on the one before can be relied on. */
  restart(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#untoldBytes = 0
    this.#ping = 0
    this.#pong = 0
    this.#told = -1
  }

  reset(): void {
    this.restart()
    this.#received = 0
  }

  readonly #tellLate = (): void => {
    this.#timer = undefined
    if (this.#received !== this.#told) this.#tell()
  }
}
