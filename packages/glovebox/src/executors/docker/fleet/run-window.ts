const MINUTE_MS = 60_000

/** At most so many runs begin within any minute. */
export class RunWindow {
  readonly #limit: number
  readonly #now: () => number
  // In the order they began; never more than the limit.
  #begun: { readonly at: number }[] = []

  constructor(limit: number, now: () => number) {
    this.#limit = limit
    this.#now = now
  }

  get count(): number {
    this.#forget()
    return this.#begun.length
  }

  /** How long until one more may begin; none when it may now. */
  waitMs(): number {
    this.#forget()
    const [oldest] = this.#begun
    if (oldest === undefined || this.#begun.length < this.#limit) return 0
    return oldest.at + MINUTE_MS - this.#now()
  }

  /** Counts one; the result takes it back, for a run that did not come to begin. */
  take(): () => void {
    const run = { at: this.#now() }
    this.#begun.push(run)
    return () => {
      this.#begun = this.#begun.filter((other) => other !== run)
    }
  }

  #forget(): void {
    const end = this.#now() - MINUTE_MS
    const first = this.#begun.findIndex(({ at }) => at > end)
    this.#begun = first === -1 ? [] : this.#begun.slice(first)
  }
}
