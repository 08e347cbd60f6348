const REMEMBERED = 10_000

/** The last ids that were seen, so that what comes again is known. */
export class RecentIds {
  // Two generations, of which the older one goes as a whole: to find and delete the oldest id each time costs more.
  #younger = new Set<string>()
  #older: ReadonlySet<string> = new Set<string>()

  /** False when the id was seen before. */
  add(id: string): boolean {
    if (this.#younger.has(id) || this.#older.has(id)) return false
    this.#younger.add(id)
    if (this.#younger.size >= REMEMBERED) {
      this.#older = this.#younger
      this.#younger = new Set()
    }
    return true
  }
}
