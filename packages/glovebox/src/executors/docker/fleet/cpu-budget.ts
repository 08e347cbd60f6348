export interface CpuBudgetOptions {
  /** CPU-seconds. */
  readonly amount: number
  readonly perMs: number
}

/**
 * CPU-seconds that come back evenly over time. A run is charged when it is over, so the budget can become a debt, which
 * is paid off before the next run begins: over any long time no more is used than was granted.
 */
export class CpuBudget {
  readonly #options: CpuBudgetOptions
  readonly #now: () => number
  #left: number
  #at: number

  constructor(options: CpuBudgetOptions, now: () => number) {
    this.#options = options
    this.#now = now
    this.#left = options.amount
    this.#at = now()
  }

  /** CPU-seconds; below zero it is a debt. */
  get left(): number {
    const { amount, perMs } = this.#options
    const now = this.#now()
    this.#left = Math.min(amount, this.#left + ((now - this.#at) * amount) / perMs)
    this.#at = now
    return this.#left
  }

  /** How long until a run may begin; none when it may now. */
  waitMs(): number {
    const { left } = this
    if (left > 0) return 0
    const { amount, perMs } = this.#options
    return Math.max(1, (-left * perMs) / amount)
  }

  charge(seconds: number): void {
    this.#left = this.left - Math.max(0, seconds)
  }
}
