// The host gives the agents away after the whole of it, counted from later on.
const SHARE = 0.75

/** How long the agents of this worker are surely its own: from the last sign of the host, for less than the grace time. */
export class Lease {
  readonly #lastSign: () => number
  readonly #onOver: () => void
  #lengthMs = Number.POSITIVE_INFINITY
  #begunAt = 0
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(lastSign: () => number, onOver: () => void) {
    this.#lastSign = lastSign
    this.#onOver = onOver
  }

  /** Looks at the clock, because a process that was stopped for a while has not seen its timers. */
  get isOver(): boolean {
    if (!this.#isOver && performance.now() >= this.#endsAt) this.#end()
    return this.#isOver
  }

  /** `askedAt` is when the host was asked what it has now answered. */
  begin(graceMs: number, askedAt: number): void {
    this.#lengthMs = graceMs * SHARE
    this.#begunAt = askedAt
    this.#isOver = false
    this.#watch()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#lengthMs = Number.POSITIVE_INFINITY
    this.#isOver = false
  }

  get #endsAt(): number {
    return Math.max(this.#begunAt, this.#lastSign()) + this.#lengthMs
  }

  #watch(): void {
    clearTimeout(this.#timer)
    const leftMs = this.#endsAt - performance.now()
    if (leftMs <= 0) this.#end()
    // The connection keeps the process alive, not the watch over it.
    else if (leftMs < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#watch(), leftMs).unref()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#onOver()
  }
}
