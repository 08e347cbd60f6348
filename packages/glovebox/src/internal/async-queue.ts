export interface AsyncQueueOptions {
  /** The weight from which on the queue is full. */
  readonly limit: number
  /** The queue became full: the producer should pause. It may push on. */
  readonly onFull?: (() => void) | undefined
  /** The queue has room again, or nobody reads it any more. */
  readonly onDrain?: (() => void) | undefined
  /** The consumer left before the end; its loop waits for this. */
  readonly onReturn?: (() => void | Promise<void>) | undefined
}

interface Entry<T> {
  readonly item: T
  readonly weight: number
}

interface Waiting<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void
  readonly reject: (error: unknown) => void
}

// Fewer spent entries than this are not worth a move of the others.
const COMPACT_AT = 1024

/** Turns callbacks into an async iterable for one consumer, and tells the producer when to pause. */
export class AsyncQueue<T> implements AsyncIterable<T, undefined> {
  readonly #options: AsyncQueueOptions
  #entries: (Entry<T> | undefined)[] = []
  #first = 0
  #weight = 0
  #full = false
  #end: { readonly error?: unknown; readonly failed: boolean } | undefined
  #claimed = false
  #left: Promise<void> | undefined
  readonly #waiting: Waiting<T>[] = []
  #roomWaiters: (() => void)[] = []

  constructor(options: AsyncQueueOptions) {
    this.#options = options
  }

  /** The weight of what nobody has taken yet. */
  get weight(): number {
    return this.#weight
  }

  /** Takes the item also when full; false asks the producer to pause. After the end it is dropped. */
  push(item: T, weight = 1): boolean {
    if (this.#end) return true
    const reader = this.#waiting.shift()
    if (reader) {
      reader.resolve({ done: false, value: item })
      return true
    }
    this.#entries.push({ item, weight })
    this.#weight += weight
    if (this.#weight >= this.#options.limit && !this.#full) {
      this.#full = true
      this.#options.onFull?.()
    }
    return !this.#full
  }

  /** Waits until the queue has room, or has ended. */
  async room(): Promise<void> {
    if (this.#full && !this.#end) await new Promise<void>((resolve) => this.#roomWaiters.push(resolve))
  }

  /** Ends the loop after what is queued. */
  close(): void {
    this.#finish({ failed: false })
  }

  /** Ends the loop with this error after what is queued; the first end counts. */
  fail(error: unknown): void {
    this.#finish({ failed: true, error })
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    if (this.#claimed) throw new Error("An AsyncQueue has one consumer: it is read already.")
    this.#claimed = true
    return { next: () => this.#next(), return: () => this.#return() }
  }

  #next(): Promise<IteratorResult<T, undefined>> {
    const entry = this.#entries[this.#first]
    if (entry) {
      this.#drop(entry)
      return Promise.resolve({ done: false, value: entry.item })
    }
    if (!this.#end) return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
    const { failed, error } = this.#end
    // As a generator does: the error once, then the end.
    this.#end = { failed: false }
    return failed ? Promise.reject(error) : Promise.resolve({ done: true, value: undefined })
  }

  #drop({ weight }: Entry<T>): void {
    this.#first += 1
    if (this.#first >= COMPACT_AT && this.#first * 2 >= this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first)
      this.#first = 0
    } else {
      // The spent entry must not keep its item alive until the others move.
      this.#entries[this.#first - 1] = undefined
    }
    this.#weight -= weight
    if (this.#full && this.#weight < this.#options.limit) this.#drain()
  }

  async #return(): Promise<IteratorReturnResult<undefined>> {
    const atEnd = this.#end !== undefined && this.#first === this.#entries.length && !this.#end.failed
    if (!atEnd) this.#left = this.#leave()
    await this.#left
    return { done: true, value: undefined }
  }

  async #leave(): Promise<void> {
    this.#end = { failed: false }
    this.#entries = []
    this.#first = 0
    this.#weight = 0
    for (const { resolve } of this.#waiting.splice(0)) resolve({ done: true, value: undefined })
    try {
      if (this.#full) this.#drain()
    } finally {
      await this.#options.onReturn?.()
    }
  }

  #finish(end: { readonly error?: unknown; readonly failed: boolean }): void {
    if (this.#end) return
    this.#end = end
    this.#releaseRoom()
    const readers = this.#waiting.splice(0)
    if (end.failed && readers.length > 0) {
      this.#end = { failed: false }
      readers.shift()?.reject(end.error)
    }
    for (const { resolve } of readers) resolve({ done: true, value: undefined })
  }

  #drain(): void {
    this.#full = false
    this.#releaseRoom()
    this.#options.onDrain?.()
  }

  #releaseRoom(): void {
    const waiters = this.#roomWaiters
    this.#roomWaiters = []
    for (const resolve of waiters) resolve()
  }
}
