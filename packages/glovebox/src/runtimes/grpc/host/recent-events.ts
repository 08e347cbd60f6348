import type { WorkerSession } from "./worker-session.ts"

// How many of its latest events a worker can call off.
const REMEMBERED = 1000

/** Where the latest events of a worker went, so that it can call them off. */
export class RecentEvents {
  // Two generations, of which the older one goes as a whole: to find and delete the oldest event each time costs more.
  #younger = new Map<string, readonly WorkerSession[]>()
  #older = new Map<string, readonly WorkerSession[]>()

  add(id: string, workers: readonly WorkerSession[]): void {
    this.#younger.set(id, workers)
    if (this.#younger.size < REMEMBERED) return
    this.#older = this.#younger
    this.#younger = new Map()
  }

  /** An event can be called off once. */
  take(id: string): readonly WorkerSession[] | undefined {
    const workers = this.#younger.get(id) ?? this.#older.get(id)
    this.#younger.delete(id)
    this.#older.delete(id)
    return workers
  }
}
