import { type Context, context } from "@opentelemetry/api"

/** Something that goes on and is watched. The first `end` or `fail` counts; none of its methods throws of its own. */
export interface Observed<Outcome> {
  /** Has its span; for what happens inside, where no context manager is installed. */
  readonly context: Context
  /** Does the work in its context, so that what happens inside is its child. */
  run<T>(work: () => T): T
  end(outcome: Outcome): void
  fail(error: unknown): void
}

/** Stands for an observation where nobody listens. */
export class Unobserved implements Observed<unknown> {
  readonly #parent: Context | undefined

  constructor(parent?: Context) {
    this.#parent = parent
  }

  get context(): Context {
    return this.#parent ?? context.active()
  }

  run<T>(work: () => T): T {
    return this.#parent === undefined ? work() : runIn(this.#parent, work)
  }

  end(): void {}

  fail(): void {}
}

/** The work in a context; in none when the context manager itself fails. */
export function runIn<T>(active: Context, work: () => T): T {
  let hasBegun = false
  try {
    return context.with(active, () => {
      hasBegun = true
      return work()
    })
  } catch (error) {
    if (hasBegun) throw error
    return work()
  }
}
