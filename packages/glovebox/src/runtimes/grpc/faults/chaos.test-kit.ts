import { setTimeout as sleep } from "node:timers/promises"
import type { FaultCluster, Named } from "./fault-cluster.test-kit.ts"

export interface ChaosOptions {
  readonly seed: number
  /** Longer than a worker may be silent before its agents are given away. */
  readonly longMs: number
}

type Fault =
  | "kill worker"
  | "stop worker briefly"
  | "stop worker"
  | "kill host"
  | "stop host briefly"
  | "stop host"

const FAULTS: readonly Fault[] = [
  ...(["kill worker", "kill worker", "kill worker", "kill worker"] as const),
  ...(["stop worker briefly", "stop worker briefly", "stop worker", "stop worker"] as const),
  ...(["kill host", "kill host", "stop host briefly", "stop host"] as const),
]

interface Slot {
  worker: Named
  isBusy: boolean
}

/** Kills and stops workers and the host at random moments, several at a time; all of them run when it ends. */
export class Chaos {
  /** What was done, in this order. */
  readonly story: string[] = []
  readonly #cluster: FaultCluster
  readonly #workers: readonly Slot[]
  readonly #random: () => number
  readonly #longMs: number
  readonly #host = { isBusy: false }

  constructor(cluster: FaultCluster, workers: readonly Named[], { seed, longMs }: ChaosOptions) {
    this.#cluster = cluster
    this.#workers = workers.map((worker) => ({ worker, isBusy: false }))
    this.#random = randomOf(seed)
    this.#longMs = longMs
  }

  /** Once each of the faults, some of them several times, in any order. */
  async make(): Promise<void> {
    const under: Promise<void>[] = []
    const deck = FAULTS.map((fault) => ({ fault, rank: this.#random() }))
    for (const { fault } of deck.toSorted((one, other) => one.rank - other.rank)) {
      const isLong = !fault.endsWith("briefly")
      const ms = isLong ? this.#longMs * (0.7 + this.#random() * 0.5) : 20 + this.#random() * 300
      if (fault.includes("host")) {
        while (this.#host.isBusy) await sleep(10)
        under.push(occupied(this.#host, async () => await this.#faultOfHost(fault, ms)))
      } else {
        const slot = await this.#freeWorker()
        under.push(occupied(slot, async () => await this.#faultOfWorker(fault, slot, ms)))
      }
      await sleep(this.#random() * 800)
    }
    await Promise.all(under)
  }

  async #freeWorker(): Promise<Slot> {
    for (;;) {
      const free = this.#workers.filter(({ isBusy }) => !isBusy)
      const one = free[Math.floor(this.#random() * free.length)]
      if (one) return one
      await sleep(10)
    }
  }

  async #faultOfWorker(fault: Fault, slot: Slot, ms: number): Promise<void> {
    const { worker } = slot
    if (fault === "kill worker") {
      this.story.push(`kill ${worker.name}`)
      await this.#cluster.killWorker(worker)
      slot.worker = await this.#cluster.startWorker()
      return
    }
    this.story.push(`stop ${worker.name} for ${Math.round(ms)} ms`)
    this.#cluster.stopWorker(worker)
    await sleep(ms)
    this.#cluster.continueWorker(worker)
  }

  async #faultOfHost(fault: Fault, ms: number): Promise<void> {
    if (fault === "kill host") {
      this.story.push("kill the host")
      await this.#cluster.restartHost()
      return
    }
    this.story.push(`stop the host for ${Math.round(ms)} ms`)
    this.#cluster.host.signal("SIGSTOP")
    await sleep(ms)
    this.#cluster.host.signal("SIGCONT")
  }
}

async function occupied(place: { isBusy: boolean }, work: () => Promise<void>): Promise<void> {
  place.isBusy = true
  await work()
  place.isBusy = false
}

/** The same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
