import { GloveboxError } from "../../core/index.ts"
import type { PoolState } from "../pool-state.ts"
import type { Sandbox } from "./sandbox.ts"

export interface SandboxPoolOptions {
  /** How many sandboxes wait, ready. */
  readonly size: number
  /** After so long without a run the pool lets its sandboxes go. */
  readonly idleLeaseMs: number
  /** Gives up when the signal aborts. */
  readonly launch: (signal: AbortSignal) => Promise<Sandbox>
  /** Whether a sandbox that is taken is replaced. @default true */
  readonly refills?: boolean | undefined
}

export interface Leased {
  readonly sandbox: Sandbox
  /** Whether it was waiting, ready. */
  readonly pooled: boolean
}

// More at once only slow each other down: starting a sandbox is work of the processor.
const REFILLS_AT_ONCE = 2
const LAUNCHES_AT_ONCE = 4
const REFILL_AFTER_MS = 25
// Between two runs; a run starts the count anew.
const LOSSES_MADE_GOOD = 2

/** Started sandboxes, each for one run, made anew in the background. */
export class SandboxPool {
  readonly #options: SandboxPoolOptions
  readonly #idle = new Map<Sandbox, () => void>()
  readonly #launching = new Set<Promise<Sandbox>>()
  readonly #ending = new Set<Promise<void>>()
  readonly #leased = new Set<Sandbox>()
  // Each gets a sandbox that came to be, or undefined for its turn to make one.
  readonly #takers: ((sandbox: Sandbox | undefined) => void)[] = []
  readonly #closing = new AbortController()
  #refilling = 0
  #isClosed = false
  #idleTimer: NodeJS.Timeout | undefined
  #refillTimer: NodeJS.Timeout | undefined
  #failures = 0

  constructor(options: SandboxPoolOptions) {
    this.#options = options
  }

  get idleCount(): number {
    return this.#idle.size
  }

  get state(): PoolState {
    return { ready: this.#idle.size, busy: this.#leased.size, size: this.#options.size }
  }

  /** Fills the pool; the first sandbox that cannot be made is the error. */
  async fill(): Promise<void> {
    if (this.#isClosed) throw stopped()
    this.#touch()
    if (this.#options.size === 0 || this.#idle.size > 0) return
    this.#keep(await this.#launch())
    this.#refill()
  }

  /** A sandbox that nobody used before, and nobody will again. */
  async take(): Promise<Leased> {
    if (this.#isClosed) throw stopped()
    this.#touch()
    const ready = this.#takeIdle()
    if (ready) this.#refillSoon()
    else this.#refill()
    const sandbox = ready ?? (await this.#launchInTurn())
    this.#leased.add(sandbox)
    return { sandbox, pooled: ready !== undefined }
  }

  /** Destroys a sandbox; the pool waits for it when it closes. */
  release(sandbox: Sandbox): Promise<void> {
    this.#leased.delete(sandbox)
    return this.#end(sandbox.destroy())
  }

  /** The same for a sandbox whose run is over: its result goes to the caller before the engine gets work. */
  retire(sandbox: Sandbox): void {
    this.#leased.delete(sandbox)
    const destroy = async (): Promise<void> => {
      this.#refillNow()
      await sandbox.destroy()
    }
    void this.#end(afterThisTurn(destroy))
  }

  #end(destroyed: Promise<void>): Promise<void> {
    const ending = destroyed.catch(() => {
      // It has no connection any more, so its agent ends it; the next sweep finds what that leaves.
    })
    this.#ending.add(ending)
    void ending.finally(() => this.#ending.delete(ending))
    return ending
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#closing.abort(stopped())
    clearTimeout(this.#idleTimer)
    clearTimeout(this.#refillTimer)
    this.#letGo()
    for (const give of this.#takers.splice(0)) give(undefined)
    // Whoever holds one has been told to let go of it, and may not have come to it.
    for (const sandbox of this.#leased) void this.release(sandbox)
    await Promise.allSettled([...this.#launching].map(async (launching) => this.release(await launching)))
    await Promise.all(this.#ending)
  }

  async #launchInTurn(): Promise<Sandbox> {
    if (this.#launching.size < LAUNCHES_AT_ONCE) return this.#launch()
    const given = await new Promise<Sandbox | undefined>((resolve) => {
      this.#takers.push(resolve)
    })
    if (!given) return this.#launch()
    if (!this.#isClosed) return given
    void this.release(given)
    throw stopped()
  }

  async #launch(): Promise<Sandbox> {
    if (this.#isClosed) throw stopped()
    const launching = this.#options.launch(this.#closing.signal)
    this.#launching.add(launching)
    try {
      const sandbox = await launching
      if (!this.#isClosed) return sandbox
    } finally {
      this.#launching.delete(launching)
      if (this.#launching.size < LAUNCHES_AT_ONCE) this.#takers.shift()?.(undefined)
    }
    throw stopped()
  }

  #takeIdle(): Sandbox | undefined {
    for (const [sandbox, unwatch] of this.#idle) {
      unwatch()
      this.#idle.delete(sandbox)
      if (!sandbox.agent.lost.aborted) return sandbox
      void this.release(sandbox)
    }
    return undefined
  }

  #keep(sandbox: Sandbox): void {
    const give = sandbox.agent.lost.aborted || this.#isClosed ? undefined : this.#takers.shift()
    if (give) return give(sandbox)
    // Nobody may want it any more by the time it is ready.
    const isWanted = !this.#isClosed && this.#idleTimer !== undefined
    if (!isWanted || sandbox.agent.lost.aborted) return void this.release(sandbox)
    // A program that is done may end; the sandboxes that wait end with its connections.
    sandbox.agent.ref(false)
    const { lost } = sandbox.agent
    const onLost = (): void => {
      this.#idle.delete(sandbox)
      void this.release(sandbox)
      // Sandboxes that do not last are made anew for runs alone, not for ever.
      this.#failures += 1
      if (this.#failures <= LOSSES_MADE_GOOD) this.#refill()
    }
    lost.addEventListener("abort", onLost, { once: true })
    this.#idle.set(sandbox, () => lost.removeEventListener("abort", onLost))
    // While runs use sandboxes as fast as they come, the work would be for nothing.
    if (this.#idle.size >= this.#options.size) for (const { agent } of this.#idle.keys()) agent.warm()
  }

  // Starting a sandbox takes a processor for itself: a short run is over before it begins.
  #refillSoon(): void {
    this.#refillTimer ??= setTimeout(() => this.#refillNow(), REFILL_AFTER_MS)
    this.#refillTimer.unref()
  }

  #refillNow(): void {
    clearTimeout(this.#refillTimer)
    this.#refillTimer = undefined
    this.#refill()
  }

  #refill(): void {
    while (
      this.#options.refills !== false &&
      !this.#isClosed &&
      this.#idleTimer !== undefined &&
      this.#refilling < REFILLS_AT_ONCE &&
      this.#idle.size + this.#refilling < this.#options.size
    ) {
      this.#refilling += 1
      void this.#refillOne()
    }
  }

  async #refillOne(): Promise<void> {
    try {
      this.#keep(await this.#launch())
    } catch {
      // A run that needs a sandbox meets the same error and reports it.
      this.#failures = LOSSES_MADE_GOOD + 1
    } finally {
      this.#refilling -= 1
      if (this.#failures <= LOSSES_MADE_GOOD) this.#refill()
    }
  }

  #touch(): void {
    clearTimeout(this.#idleTimer)
    this.#failures = 0
    this.#idleTimer = setTimeout(() => {
      this.#idleTimer = undefined
      this.#letGo()
    }, this.#options.idleLeaseMs)
    this.#idleTimer.unref()
  }

  #letGo(): void {
    for (const [sandbox, unwatch] of this.#idle) {
      unwatch()
      void this.release(sandbox)
    }
    this.#idle.clear()
  }
}

async function afterThisTurn(action: () => Promise<void>): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
  await action()
}

function stopped(): GloveboxError {
  return new GloveboxError("EXECUTOR_STOPPED", "The executor was stopped.")
}
