/** Everything a runtime has under way; idle is when this is empty. */
export class PendingWork<Item> {
  readonly #items = new Set<Item>()
  readonly #waiters = new Set<() => void>()

  get size(): number {
    return this.#items.size
  }

  has(item: Item): boolean {
    return this.#items.has(item)
  }

  add(item: Item): void {
    this.#items.add(item)
  }

  delete(item: Item): void {
    this.#items.delete(item)
    if (this.#items.size === 0 && this.#waiters.size > 0) this.#check()
  }

  list(): Item[] {
    return [...this.#items]
  }

  /** Resolves once there is nothing left and whoever got the last answer has had a turn to go on. */
  async whenIdle(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    let wake: (() => void) | undefined
    let abort: (() => void) | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        wake = resolve
        abort = () => reject(signal?.reason)
        this.#waiters.add(wake)
        signal?.addEventListener("abort", abort, { once: true })
        this.#check()
      })
    } finally {
      if (wake) this.#waiters.delete(wake)
      if (abort) signal?.removeEventListener("abort", abort)
    }
  }

  #check(): void {
    if (this.#items.size > 0) return
    setImmediate(() => {
      if (this.#items.size > 0) return
      for (const wake of this.#waiters) wake()
      this.#waiters.clear()
    })
  }
}
