interface Bytes {
  readonly up: number
  readonly down: number
}

/** What was used by each of some budgets, which are told apart so that none counts twice. */
export type UsedBefore = ReadonlyMap<object, Bytes>

/** How many bytes a rule lets through, over all its connections. */
export class ByteBudget {
  readonly #most: Bytes
  readonly #before: UsedBefore
  readonly #used: { up: number; down: number }

  constructor(
    most: { readonly up?: number | undefined; readonly down?: number | undefined },
    before: UsedBefore = new Map(),
  ) {
    this.#most = { up: most.up ?? Number.POSITIVE_INFINITY, down: most.down ?? Number.POSITIVE_INFINITY }
    this.#before = before
    this.#used = { up: 0, down: 0 }
    for (const { up, down } of before.values()) {
      this.#used.up += up
      this.#used.down += down
    }
  }

  /** What was used before it, and by itself so far. */
  get used(): UsedBefore {
    const own = { ...this.#used }
    for (const { up, down } of this.#before.values()) {
      own.up -= up
      own.down -= down
    }
    return new Map([...this.#before, [this, own]])
  }

  /** Whether nothing is left in one of the directions. */
  get isSpent(): boolean {
    return this.#used.up >= this.#most.up || this.#used.down >= this.#most.down
  }

  /** Takes as many of the bytes as are left. */
  take(direction: "up" | "down", bytes: number): number {
    const granted = Math.max(0, Math.min(bytes, this.#most[direction] - this.#used[direction]))
    this.#used[direction] += granted
    return granted
  }
}
