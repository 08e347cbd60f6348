import { abortable } from "../internal/abortable.ts"
import { Slots } from "../internal/slots.ts"
import { timeouts } from "./timeouts.ts"

/** Finds the addresses of a name, as text. */
export type EgressLookup = (
  host: string,
  options: { readonly signal: AbortSignal },
) => Promise<readonly string[]>

/** A lookup took too long. */
export class LateLookup extends Error {
  override readonly name = "LateLookup"
}

interface Shared {
  readonly found: Promise<unknown>
  readonly leave: AbortController
  waiting: number
}

const MOST_AT_A_TIME = 2

/** The lookups of one gate: few at a time, and each name once. What one gate waits for holds up no other. */
export class HostLookups {
  readonly #lookup: EgressLookup
  readonly #places = new Slots(MOST_AT_A_TIME)
  readonly #shared = new Map<string, Shared>()

  constructor(lookup: EgressLookup) {
    this.#lookup = lookup
  }

  /** What the lookup says, whatever that is. Throws LateLookup, the signal's reason, or the lookup's error. */
  async find(name: string, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted()
    const shared = this.#shared.get(name) ?? this.#start(name)
    shared.waiting += 1
    try {
      return await abortable(shared.found, signal)
    } finally {
      shared.waiting -= 1
      if (shared.waiting === 0) shared.leave.abort()
    }
  }

  #start(name: string): Shared {
    const leave = new AbortController()
    const timer = setTimeout(() => leave.abort(new LateLookup()), timeouts.lookup)
    const forget = (): void => {
      if (this.#shared.get(name) === shared) this.#shared.delete(name)
    }
    leave.signal.addEventListener("abort", forget, { once: true })
    const found = abortable(this.#run(name, leave.signal), leave.signal).finally(() => {
      clearTimeout(timer)
      forget()
    })
    found.catch(() => {})
    const shared: Shared = { found, leave, waiting: 0 }
    this.#shared.set(name, shared)
    return shared
  }

  async #run(name: string, signal: AbortSignal): Promise<unknown> {
    const giveBack = await this.#places.take(signal)
    // A lookup that does not heed its signal keeps its place for a while: leaving must not be a way to have more.
    const timer = setTimeout(giveBack, timeouts.lookup)
    timer.unref()
    try {
      return await this.#lookup(name, { signal })
    } finally {
      clearTimeout(timer)
      giveBack()
    }
  }
}
