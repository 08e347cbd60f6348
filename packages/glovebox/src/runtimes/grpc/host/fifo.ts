// Fewer spent places than this are not worth a move of the others.
const COMPACT_AT = 1024

/** First in, first out, at a cost that does not depend on how many wait. */
export class Fifo<T> {
  #items: (T | undefined)[] = []
  #first = 0

  get size(): number {
    return this.#items.length - this.#first
  }

  push(item: T): void {
    this.#items.push(item)
  }

  peek(): T | undefined {
    return this.#items[this.#first]
  }

  shift(): T | undefined {
    if (this.#first === this.#items.length) return undefined
    const item = this.#items[this.#first]
    this.#items[this.#first++] = undefined
    if (this.#first === this.#items.length) {
      this.#items = []
      this.#first = 0
    } else if (this.#first >= COMPACT_AT && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    return item
  }

  list(): readonly T[] {
    return this.#items.slice(this.#first) as T[]
  }

  /** Empties it. */
  takeAll(): readonly T[] {
    const items = this.list()
    this.#items = []
    this.#first = 0
    return items
  }
}
