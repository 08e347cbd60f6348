import { GloveboxError } from "../../core/index.ts"
import type { SandboxContainer } from "./launch-container.ts"

export interface ContainerPoolOptions {
  /** How many containers wait, ready. */
  readonly size: number
  /** After so long without a run the pool lets its containers go. */
  readonly idleLeaseMs: number
  /** Gives up when the signal aborts. */
  readonly launch: (signal: AbortSignal) => Promise<SandboxContainer>
  /** Whether a container that is taken is replaced. @default true */
  readonly refills?: boolean | undefined
}

export interface Leased {
  readonly container: SandboxContainer
  /** Whether it was waiting, ready. */
  readonly pooled: boolean
}

// More at once only slow each other down: starting a container is work of the processor.
const REFILLS_AT_ONCE = 2
const REFILL_AFTER_MS = 25
// Between two runs; a run starts the count anew.
const LOSSES_MADE_GOOD = 2

/** Started containers, each for one run, made anew in the background. */
export class ContainerPool {
  readonly #options: ContainerPoolOptions
  readonly #idle = new Map<SandboxContainer, () => void>()
  readonly #launching = new Set<Promise<SandboxContainer>>()
  readonly #ending = new Set<Promise<void>>()
  readonly #leased = new Set<SandboxContainer>()
  readonly #closing = new AbortController()
  #refilling = 0
  #isClosed = false
  #idleTimer: NodeJS.Timeout | undefined
  #refillTimer: NodeJS.Timeout | undefined
  #failures = 0

  constructor(options: ContainerPoolOptions) {
    this.#options = options
  }

  get idleCount(): number {
    return this.#idle.size
  }

  /** Fills the pool; the first container that cannot be made is the error. */
  async fill(): Promise<void> {
    if (this.#isClosed) throw stopped()
    this.#touch()
    if (this.#options.size === 0 || this.#idle.size > 0) return
    this.#keep(await this.#launch())
    this.#refill()
  }

  /** A container that nobody used before, and nobody will again. */
  async take(): Promise<Leased> {
    if (this.#isClosed) throw stopped()
    this.#touch()
    const ready = this.#takeIdle()
    if (ready) this.#refillSoon()
    else this.#refill()
    const container = ready ?? (await this.#launch())
    this.#leased.add(container)
    return { container, pooled: ready !== undefined }
  }

  /** Destroys a container; the pool waits for it when it closes. */
  release(container: SandboxContainer): Promise<void> {
    this.#leased.delete(container)
    return this.#end(container.destroy())
  }

  /** The same for a container whose run is over: its result goes to the caller before the engine gets work. */
  retire(container: SandboxContainer): void {
    this.#leased.delete(container)
    const destroy = async (): Promise<void> => {
      this.#refillNow()
      await container.destroy()
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
    // Whoever holds one has been told to let go of it, and may not have come to it.
    for (const container of this.#leased) void this.release(container)
    await Promise.allSettled([...this.#launching].map(async (launching) => this.release(await launching)))
    await Promise.all(this.#ending)
  }

  async #launch(): Promise<SandboxContainer> {
    const launching = this.#options.launch(this.#closing.signal)
    this.#launching.add(launching)
    try {
      const container = await launching
      if (!this.#isClosed) return container
    } finally {
      this.#launching.delete(launching)
    }
    throw stopped()
  }

  #takeIdle(): SandboxContainer | undefined {
    for (const [container, unwatch] of this.#idle) {
      unwatch()
      this.#idle.delete(container)
      if (!container.agent.lost.aborted) return container
      void this.release(container)
    }
    return undefined
  }

  #keep(container: SandboxContainer): void {
    // Nobody may want it any more by the time it is ready.
    const isWanted = !this.#isClosed && this.#idleTimer !== undefined
    if (!isWanted || container.agent.lost.aborted) return void this.release(container)
    // A program that is done may end; the containers that wait end with its connections.
    container.agent.ref(false)
    const { lost } = container.agent
    const onLost = (): void => {
      this.#idle.delete(container)
      void this.release(container)
      // Containers that do not last are made anew for runs alone, not for ever.
      this.#failures += 1
      if (this.#failures <= LOSSES_MADE_GOOD) this.#refill()
    }
    lost.addEventListener("abort", onLost, { once: true })
    this.#idle.set(container, () => lost.removeEventListener("abort", onLost))
    // While runs use containers as fast as they come, the work would be for nothing.
    if (this.#idle.size >= this.#options.size) for (const { agent } of this.#idle.keys()) agent.warm()
  }

  // Starting a container takes a processor for itself: a short run is over before it begins.
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
      // A run that needs a container meets the same error and reports it.
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
    for (const [container, unwatch] of this.#idle) {
      unwatch()
      void this.release(container)
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
