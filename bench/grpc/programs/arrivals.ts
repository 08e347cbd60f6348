/** Counts what arrives, and tells when a number is reached. */
export class Arrivals {
  #count = 0
  #awaited: { readonly count: number; readonly resolve: () => void } | undefined

  add(): void {
    this.#count += 1
    if (this.#awaited && this.#count >= this.#awaited.count) this.#awaited.resolve()
  }

  /** Fails when there were more than that. */
  async reach(count: number): Promise<void> {
    if (this.#count < count) {
      await new Promise<void>((resolve) => {
        this.#awaited = { count, resolve }
      })
    }
    if (this.#count > count) throw new Error(`${this.#count} events arrived, not ${count}.`)
  }
}
