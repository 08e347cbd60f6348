import type { WorkerSession } from "./worker-session.ts"

export interface QuietWatchOptions {
  /** Workers that can be asked. */
  readonly workers: () => Iterable<WorkerSession>
  /** Nothing waits, and nobody waits for an answer. */
  readonly isQuiet: () => boolean
  /** Grows with everything that workers send. */
  readonly activity: () => number
}

interface Round {
  readonly id: number
  readonly awaited: Set<WorkerSession>
  readonly counters: Map<WorkerSession, number>
  readonly activity: number
}

// How soon the host looks again when it is not quiet itself.
const RETRY_MS = 20

/**
 * Finds out whether all workers are idle. Each answers when it has nothing to do, with a counter of what it did; when two
 * rounds bring the same counters, nothing happened in between.
 */
export class QuietWatch {
  readonly #options: QuietWatchOptions
  #askers: { readonly worker: WorkerSession; readonly id: number; readonly since: number }[] = []
  #round: Round | undefined
  #before: Round | undefined
  #lastId = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: QuietWatchOptions) {
    this.#options = options
  }

  ask(worker: WorkerSession, id: number): void {
    // One question of a worker at a time: it asks again only when it no longer waits for the last.
    this.#askers = this.#askers.filter((asker) => asker.worker !== worker)
    this.#askers.push({ worker, id, since: this.#lastId })
    if (!this.#round && !this.#timer) this.#begin()
  }

  answered(worker: WorkerSession, id: number, activity: number): void {
    if (this.#round?.id !== id || !this.#round.awaited.delete(worker)) return
    this.#round.counters.set(worker, activity)
    this.#check()
  }

  joined(worker: WorkerSession): void {
    if (!this.#round) return
    this.#round.awaited.add(worker)
    worker.tell({ quiet_question: { id: this.#round.id } })
  }

  left(worker: WorkerSession): void {
    this.#askers = this.#askers.filter((asker) => asker.worker !== worker)
    this.#round?.awaited.delete(worker)
    this.#round?.counters.delete(worker)
    this.#check()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#askers = []
    this.#round = undefined
    this.#before = undefined
  }

  #begin(): void {
    const awaited = new Set(this.#options.workers())
    const id = ++this.#lastId
    this.#round = { id, awaited, counters: new Map(), activity: this.#options.activity() }
    for (const worker of awaited) worker.tell({ quiet_question: { id } })
    this.#check()
  }

  #check(): void {
    const round = this.#round
    if (!round || round.awaited.size > 0) return
    this.#round = undefined
    if (this.#askers.length === 0) {
      this.#before = undefined
      return
    }
    const before = this.#before
    this.#before = round
    const { isQuiet, activity } = this.#options
    if (!isQuiet() || round.activity !== activity()) this.#later()
    else if (before && isSame(before, round)) this.#tell(before.id)
    else this.#begin()
  }

  /** Tells those who asked before the first of the two rounds. */
  #tell(firstRound: number): void {
    const told = this.#askers.filter(({ since }) => since < firstRound)
    this.#askers = this.#askers.filter(({ since }) => since >= firstRound)
    for (const { worker, id } of told) worker.tell({ quiet_answer: { id, activity: 0 } })
    if (this.#askers.length > 0) this.#begin()
    else this.#before = undefined
  }

  #later(): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#askers.length > 0) this.#begin()
      else this.#before = undefined
    }, RETRY_MS)
    this.#timer.unref()
  }
}

function isSame(a: Round, b: Round): boolean {
  if (a.activity !== b.activity || a.counters.size !== b.counters.size) return false
  for (const [worker, counter] of a.counters) if (b.counters.get(worker) !== counter) return false
  return true
}
