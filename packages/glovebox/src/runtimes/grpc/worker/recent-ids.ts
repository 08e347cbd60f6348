const REMEMBERED = 10_000

/** The last ids that were seen, so that what comes again is known. */
export class RecentIds {
  readonly #ids = new Set<string>()

  /** False when the id was seen before. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false
    this.#ids.add(id)
    if (this.#ids.size > REMEMBERED) {
      // A Set keeps the order of adding: the first is the oldest.
      const [oldest = ""] = this.#ids
      this.#ids.delete(oldest)
    }
    return true
  }
}
