import type { TypedEmitter } from "../../internal/typed-emitter.ts"
import type { CallOptions } from "../agent-runtime.ts"
import { GloveboxError } from "../glovebox-error.ts"
import type { RuntimeEvent } from "../runtime-event.ts"
import type { Delivery } from "./delivery.ts"
import { type Dispatcher, currentDelivery } from "./dispatcher.ts"
import type { Publication } from "./publication.ts"

export interface StopOptions extends CallOptions {
  /** How long to wait for running handlers, which are told to end. @default 2000 */
  readonly graceMs?: number | undefined
}

type PendingItem = Delivery | Publication
type Phase = "ready" | "running" | "stopping" | "stopped" | "closed"

const DEFAULT_GRACE_MS = 2_000
const CONDITION_INTERVAL_MS = 100

/** When a runtime delivers, when it is idle, and how it ends. */
export class Lifecycle {
  readonly #dispatcher: Dispatcher
  readonly #events: TypedEmitter<RuntimeEvent>
  readonly #messageListeners = new Set<() => void>()
  #phase: Phase = "ready"
  #failure: { readonly error: unknown; isReported: boolean } | undefined
  #stopping: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor(dispatcher: Dispatcher, events: TypedEmitter<RuntimeEvent>) {
    this.#dispatcher = dispatcher
    this.#events = events
  }

  get isRunning(): boolean {
    return this.#phase === "running"
  }

  /** Sends wait before the start, and are refused after the end. */
  checkOpen(): void {
    if (this.#phase === "ready" || this.#phase === "running") return
    throw this.#stoppedError()
  }

  checkNotClosed(): void {
    if (this.#phase === "closed") throw this.#stoppedError()
  }

  start(): void {
    if (this.#phase === "running" || this.#phase === "stopping") {
      throw stateError(`The runtime is ${this.#phase} already. Start it once.`)
    }
    this.checkNotClosed()
    this.#failure = undefined
    this.#phase = "running"
    this.#dispatcher.scheduler.start()
    this.#events.emit({ type: "runtime-started" })
  }

  /** Ends the runtime because of an error that has no caller to go to. */
  fail(error: unknown): void {
    if (this.#failure || this.#phase !== "running") return
    this.#failure = { error, isReported: false }
    this.#halt()
  }

  afterMessage(): void {
    for (const listener of this.#messageListeners) listener()
  }

  async whenIdle({ signal }: CallOptions): Promise<void> {
    this.#checkStarted("become idle")
    if (currentDelivery())
      throw stateError("A handler cannot wait for the runtime to be idle: it keeps it busy.")
    await this.#dispatcher.pending.whenIdle(signal)
    this.#throwFailure()
  }

  async stop({ graceMs = DEFAULT_GRACE_MS, signal }: StopOptions): Promise<void> {
    signal?.throwIfAborted()
    // A handler that joins a stop under way must not wait for it: the stop waits for the handler.
    if (this.#stopping && currentDelivery()) return
    if (this.#phase !== "closed") {
      this.#stopping ??= this.#stop(graceMs).finally(() => (this.#stopping = undefined))
      await this.#stopping
    }
    this.#throwFailure()
  }

  async stopWhenIdle(options: StopOptions): Promise<void> {
    await this.whenIdle(options).catch((error: unknown) => this.#rethrowUnlessFailure(error))
    await this.stop(options)
  }

  async stopWhen(condition: () => boolean | Promise<boolean>, options: StopOptions): Promise<void> {
    this.#checkStarted("stop on a condition")
    try {
      await this.#whenTrue(condition, options.signal)
    } catch (error) {
      await this.stop({ graceMs: options.graceMs })
      throw error
    }
    await this.stop(options)
  }

  async close(closeAgents: () => Promise<void>): Promise<void> {
    this.#closing ??= this.#close(closeAgents)
    await this.#closing
  }

  /** Runs something that needs every agent to be at rest. */
  async whilePaused<T>(what: string, { signal }: CallOptions, work: () => Promise<T>): Promise<T> {
    this.checkNotClosed()
    signal?.throwIfAborted()
    const { pending, scheduler } = this.#dispatcher
    if (pending.size > 0) {
      throw new GloveboxError(
        "RUNTIME_BUSY",
        `State cannot be ${what} while ${pending.size} messages wait or are being handled. Await runtime.whenIdle() first.`,
      )
    }
    scheduler.pause()
    try {
      return await work()
    } finally {
      if (this.isRunning) scheduler.resume()
    }
  }

  async #stop(graceMs: number): Promise<void> {
    const own = handlersAround(currentDelivery())
    this.#halt()
    const { pending } = this.#dispatcher
    const left = (): PendingItem[] => pending.list().filter((item) => !own.has(item))
    await this.#afterMessages(() => pending.size <= own.size && left().length === 0, graceMs)
    const abandoned = left()
    for (const item of abandoned) pending.delete(item)
    if (this.#phase === "stopping") this.#phase = "stopped"
    this.#events.emit({ type: "runtime-stopped", abandonedHandlers: abandoned.length })
  }

  #halt(): void {
    if (this.#phase === "stopped") return
    this.#phase = "stopping"
    this.#dispatcher.scheduler.pause()
    this.#dispatcher.cancelAll(this.#stoppedError())
  }

  /** Waits until `isDone` after some message, or until the time is over. */
  async #afterMessages(isDone: () => boolean, timeoutMs: number): Promise<void> {
    if (isDone()) return
    await new Promise<void>((resolve) => {
      const check = (): void => {
        if (isDone()) end()
      }
      const end = (): void => {
        clearTimeout(timer)
        this.#messageListeners.delete(check)
        resolve()
      }
      const timer = setTimeout(end, timeoutMs)
      this.#messageListeners.add(check)
    })
  }

  async #whenTrue(
    condition: () => boolean | Promise<boolean>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (;;) {
      signal?.throwIfAborted()
      if (this.#failure || (await condition())) return
      if (this.#phase !== "running") return
      await this.#nextMessage(signal)
    }
  }

  #nextMessage(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#messageListeners.delete(done)
        signal?.removeEventListener("abort", done)
        resolve()
      }
      // The condition may look at more than messages, so it is also asked from time to time.
      const timer = setTimeout(done, CONDITION_INTERVAL_MS)
      this.#messageListeners.add(done)
      signal?.addEventListener("abort", done)
    })
  }

  async #close(closeAgents: () => Promise<void>): Promise<void> {
    try {
      await this.stop({})
    } finally {
      this.#phase = "closed"
      await closeAgents()
    }
  }

  #checkStarted(what: string): void {
    if (this.#phase === "ready")
      throw stateError(`The runtime cannot ${what} before it was started. Call start() first.`)
    this.checkNotClosed()
  }

  #throwFailure(): void {
    if (!this.#failure || this.#failure.isReported) return
    this.#failure.isReported = true
    throw this.#failure.error
  }

  #rethrowUnlessFailure(error: unknown): void {
    if (!this.#failure || error !== this.#failure.error) throw error
    // The stop that follows reports it.
    this.#failure.isReported = false
  }

  #stoppedError(): GloveboxError {
    const how = this.#phase === "closed" ? "closed" : "stopped"
    const remedy = how === "closed" ? "Make a new one." : "Start it again to send."
    const cause = this.#failure?.error
    const why = cause === undefined ? "" : " after an unhandled exception"
    return new GloveboxError(
      "RUNTIME_STOPPED",
      `The runtime was ${how}${why}. ${remedy}`,
      cause === undefined ? undefined : { cause },
    )
  }
}

/** The handlers that a call comes from; a stop inside one must not wait for it. */
function handlersAround(delivery: Delivery | undefined): Set<PendingItem> {
  const around = new Set<PendingItem>()
  for (let current = delivery; current; current = current.parent) around.add(current)
  return around
}

function stateError(message: string): GloveboxError {
  return new GloveboxError("RUNTIME_STATE", message)
}
