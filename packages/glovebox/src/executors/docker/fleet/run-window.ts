const MINUTE_MS = 60_000

/** A run that may begin, and counts from now on. */
export interface CountedRun {
  /** It begins now, however long it has waited. */
  begin(): void
  /** It will not begin; nothing happens if it has. */
  undo(): void
}

/** At most so many runs begin within any minute. */
export class RunWindow {
  readonly #limit: number
  readonly #now: () => number
  // Never more than the limit; one that has yet to begin may do so at any moment, and is not forgotten.
  #runs: { at: number }[] = []

  constructor(limit: number, now: () => number) {
    this.#limit = limit
    this.#now = now
  }

  get count(): number {
    this.#forget()
    return this.#runs.length
  }

  /** How long until one more may begin; none when it may now. At least a minute while all have yet to begin. */
  waitMs(): number {
    this.#forget()
    if (this.#runs.length < this.#limit) return 0
    const oldest = Math.min(...this.#runs.map(({ at }) => at))
    return Math.min(MINUTE_MS, oldest + MINUTE_MS - this.#now())
  }

  take(): CountedRun {
    const run = { at: Infinity }
    this.#runs.push(run)
    return {
      begin: () => {
        if (run.at === Infinity) run.at = this.#now()
      },
      undo: () => {
        if (run.at === Infinity) this.#runs = this.#runs.filter((other) => other !== run)
      },
    }
  }

  #forget(): void {
    const end = this.#now() - MINUTE_MS
    this.#runs = this.#runs.filter(({ at }) => at > end)
  }
}
