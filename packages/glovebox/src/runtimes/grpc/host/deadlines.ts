const TICK_MS = 20

export interface Timed {
  /** On the clock of performance.now. */
  readonly deadline: number
}

/** Deadlines of very many things by one coarse timer, which runs only while there are any. */
export class Deadlines<T extends Timed> {
  readonly #buckets = new Map<number, Set<T>>()
  readonly #onExpired: (item: T) => void
  #timer: NodeJS.Timeout | undefined
  // Every bucket before this one was looked at.
  #next = 0

  constructor(onExpired: (item: T) => void) {
    this.#onExpired = onExpired
  }

  add(item: T): void {
    const index = bucketOf(item.deadline)
    const bucket = this.#buckets.get(index)
    if (bucket) bucket.add(item)
    else this.#buckets.set(index, new Set([item]))
    if (this.#timer) {
      if (index < this.#next) this.#next = index
      return
    }
    this.#next = Math.min(index, bucketOf(performance.now()))
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    this.#timer.unref()
  }

  delete(item: T): void {
    const index = bucketOf(item.deadline)
    const bucket = this.#buckets.get(index)
    bucket?.delete(item)
    if (bucket?.size === 0) this.#buckets.delete(index)
  }

  clear(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#buckets.clear()
  }

  #tick(): void {
    const now = performance.now()
    const last = Math.floor(now / TICK_MS)
    // After a long sleep there are more ticks to look at than buckets.
    if (last - this.#next > this.#buckets.size) {
      for (const index of [...this.#buckets.keys()].toSorted((a, b) => a - b)) {
        if (index <= last) this.#expire(index)
      }
    } else {
      for (let index = this.#next; index <= last; index++) this.#expire(index)
    }
    this.#next = last + 1
    if (this.#buckets.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #expire(index: number): void {
    const bucket = this.#buckets.get(index)
    if (!bucket) return
    this.#buckets.delete(index)
    for (const item of bucket) this.#onExpired(item)
  }
}

// Rounded up: a deadline may be late by a tick, but is never early.
function bucketOf(deadline: number): number {
  return Math.ceil(deadline / TICK_MS)
}
