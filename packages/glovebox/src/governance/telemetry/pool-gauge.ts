import type { Meter, ObservableGauge, ObservableResult } from "@opentelemetry/api"
import type { PoolState } from "../../executors/pool-state.ts"
import { attempt } from "./attempt.ts"
import { EXECUTOR } from "./names.ts"

/** An executor that can tell of its sandboxes. */
export interface PooledExecutor {
  readonly pool?: PoolState | undefined
}

interface Watched {
  readonly source: PooledExecutor
  readonly name: string
}

/** Tells, whenever metrics are collected, how many sandboxes wait and how many work. */
export class PoolGauge {
  readonly #watched = new Set<Watched>()
  // An SDK repeats the last number of what is no longer told: it is to be none.
  readonly #told = new Set<string>()
  #gauge: ObservableGauge | undefined

  /** Tells this meter from now on, and no other. */
  attach(meter: Meter): void {
    attempt(() => this.#gauge?.removeCallback(this.#observe))
    this.#gauge = meter.createObservableGauge("glovebox.pool.sandboxes", {
      description: "Sandboxes that wait, ready, and those in use.",
      unit: "{sandbox}",
    })
    this.#gauge.addCallback(this.#observe)
  }

  watch(source: PooledExecutor, name: string): Disposable {
    const watched = { source, name }
    this.#watched.add(watched)
    return { [Symbol.dispose]: () => void this.#watched.delete(watched) }
  }

  // Two executors of one name are told as one: a second number would replace the first.
  readonly #observe = (result: ObservableResult): void => {
    const sums = new Map([...this.#told].map((name) => [name, { ready: 0, busy: 0 }]))
    for (const { source, name } of this.#watched) {
      const pool = attempt(() => source.pool)
      if (!pool) continue
      const { ready, busy } = sums.get(name) ?? { ready: 0, busy: 0 }
      sums.set(name, { ready: ready + pool.ready, busy: busy + pool.busy })
      this.#told.add(name)
    }
    for (const [name, { ready, busy }] of sums) {
      result.observe(ready, { [EXECUTOR]: name, "glovebox.pool.state": "ready" })
      result.observe(busy, { [EXECUTOR]: name, "glovebox.pool.state": "busy" })
    }
  }
}
