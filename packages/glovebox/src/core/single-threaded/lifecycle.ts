import { abortable } from "../../internal/abortable.ts"
import { describe } from "../../internal/describe.ts"
import type { TypedEmitter } from "../../internal/typed-emitter.ts"
import type { CallOptions } from "../agent-runtime.ts"
import { type StateScope, runInStateScope } from "../ambient-scope.ts"
import { GloveboxError } from "../glovebox-error.ts"
import type { RuntimeEvent } from "../runtime-event.ts"
import type { Delivery } from "./delivery.ts"
import { type Dispatcher, type PendingItem, currentDelivery } from "./dispatcher.ts"
import { checkGrace, checkSignal } from "./runtime-options.ts"

export interface StopOptions extends CallOptions {
  /** How long to wait for running handlers, which are told to end. @default 2000 */
  readonly graceMs?: number | undefined
}

type Phase = "ready" | "running" | "stopping" | "stopped" | "closed"

const DEFAULT_GRACE_MS = 2_000
const CONDITION_INTERVAL_MS = 100

/** When a runtime delivers, when it is idle, and how it ends. */
export class Lifecycle {
  readonly #dispatcher: Dispatcher
  readonly #events: TypedEmitter<RuntimeEvent>
  readonly #messageListeners = new Set<() => void>()
  readonly #closed = new AbortController()
  #phase: Phase = "ready"
  #failure: { readonly error: unknown; isReported: boolean } | undefined
  #stopping: Promise<void> | undefined
  #closing: Promise<void> | undefined
  // One at a time: what saves must not meet what loads.
  #paused: Promise<unknown> = Promise.resolve()

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

  checkNotStopping(): void {
    if (this.#phase === "stopping" || this.#phase === "closed") throw this.#stoppedError()
  }

  /** The promise, or an error when the runtime is closed before it settles, or the caller gives up. */
  async whileOpen<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return abortable(abortable(promise, this.#closed.signal), signal)
  }

  checkStartable(): void {
    if (this.#closing) throw this.#stoppedError("closed")
    if (this.#phase === "running") throw stateError("The runtime is running already. Start it once.")
    if (this.#phase === "stopping") throw stateError("The runtime is stopping. Await stop() first.")
  }

  start(): void {
    this.checkStartable()
    this.#failure = undefined
    // What a stop inside a handler left running: given up like the rest.
    if (this.#phase === "stopped")
      for (const item of this.#dispatcher.pending.list()) this.#dispatcher.abandon(item)
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
    checkSignal(signal)
    this.#checkStarted("become idle")
    if (currentDelivery()) {
      throw stateError("A handler cannot wait for the runtime to be idle: it keeps it busy.")
    }
    await this.#dispatcher.pending.whenIdle(signal)
    this.#throwFailure()
  }

  async stop({ graceMs = DEFAULT_GRACE_MS, signal }: StopOptions): Promise<void> {
    checkGrace(graceMs)
    checkSignal(signal)
    signal?.throwIfAborted()
    // A handler that joins a stop under way must not wait for it: the stop waits for the handler.
    if (this.#stopping && currentDelivery()) return
    if (this.#phase !== "stopped" && this.#phase !== "closed")
      await abortable((this.#stopping ??= this.#stop(graceMs)), signal)
    this.#throwFailure()
  }

  /** `whenIdleElsewhere` where the agents of this runtime are only a part of all. */
  async stopWhenIdle(options: StopOptions, whenIdleElsewhere?: () => Promise<void>): Promise<void> {
    await this.whenIdle(options)
      .then(whenIdleElsewhere)
      .catch((error: unknown) => this.#rethrowUnlessFailure(error))
    await this.stop(options)
  }

  async stopWhen(condition: () => boolean | Promise<boolean>, options: StopOptions): Promise<void> {
    this.#checkStarted("stop on a condition")
    if (typeof condition !== "function") {
      throw new GloveboxError("OPTION_INVALID", `The condition is ${describe(condition)}. Pass a function.`)
    }
    while (this.isRunning) {
      options.signal?.throwIfAborted()
      if (await this.#holds(condition, options)) break
      await this.#nextMessage(options.signal)
    }
    await this.stop(options)
  }

  async close(closeAgents: () => Promise<void>): Promise<void> {
    // A handler that joins a close under way must not wait for it: the close waits for the handler.
    if (this.#closing && currentDelivery()) return
    this.#closing ??= this.#close(closeAgents)
    await this.#closing
  }

  /** Runs something that needs every agent to be at rest; messages that come meanwhile wait. */
  async whilePaused<T>(
    what: "saved" | "loaded",
    { signal }: CallOptions,
    work: () => Promise<T>,
  ): Promise<T> {
    checkSignal(signal)
    signal?.throwIfAborted()
    this.#checkAtRest(what)
    // Held from here on: no handler runs until this and what it waits for have ended.
    const release = this.#dispatcher.scheduler.hold()
    const turn = this.#paused.then(() => this.#inStateScope(work, signal))
    const ended = turn.finally(release).catch(() => {})
    this.#paused = ended
    try {
      return await this.whileOpen(turn, signal)
    } finally {
      // Who gives up a save leaves nothing behind; a load must first undo what it did.
      if (what === "saved") release()
    }
  }

  async #inStateScope<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted()
    this.checkNotClosed()
    const scope: StateScope = { scope: "state", isOver: false }
    try {
      return await runInStateScope(scope, work)
    } finally {
      scope.isOver = true
    }
  }

  #checkAtRest(what: string): void {
    this.checkNotClosed()
    const { size } = this.#dispatcher.pending
    if (size === 0) return
    throw new GloveboxError(
      "RUNTIME_BUSY",
      `State cannot be ${what} while ${size} messages wait or are being handled. Await runtime.whenIdle() first.`,
    )
  }

  async #stop(graceMs: number): Promise<void> {
    const own = handlersAround(currentDelivery())
    this.#halt()
    const { pending } = this.#dispatcher
    // Nothing is added after the halt, so this is all there is to wait for.
    const others = pending.list().filter((item) => !own.has(item))
    const areGone = (): boolean => pending.size <= own.size && !others.some((item) => pending.has(item))
    await this.#afterMessages(areGone, graceMs)
    const abandoned = others.filter((item) => pending.has(item))
    for (const item of abandoned) this.#dispatcher.abandon(item)
    this.#phase = "stopped"
    this.#stopping = undefined
    this.#events.emit({ type: "runtime-stopped", abandonedHandlers: abandoned.length })
  }

  #halt(): void {
    this.#phase = "stopping"
    this.#dispatcher.scheduler.stop()
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

  /** Asks a condition; one that fails stops the runtime, because it would never hold. */
  async #holds(condition: () => boolean | Promise<boolean>, options: StopOptions): Promise<boolean> {
    const ended = new AbortController()
    const watchEnd = (): void => {
      if (!this.isRunning) ended.abort()
    }
    this.#messageListeners.add(watchEnd)
    try {
      const asked = (async () => condition())()
      return await this.whileOpen(abortable(asked, ended.signal), options.signal)
    } catch (error) {
      if (ended.signal.aborted) return true
      options.signal?.throwIfAborted()
      await this.stop({ graceMs: options.graceMs })
      throw error
    } finally {
      this.#messageListeners.delete(watchEnd)
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
      this.#closed.abort(this.#stoppedError())
      await closeAgents()
    }
  }

  #checkStarted(what: string): void {
    if (this.#phase === "ready") {
      throw stateError(`The runtime cannot ${what} before it was started. Call start() first.`)
    }
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

  #stoppedError(how: "closed" | "stopped" = this.#phase === "closed" ? "closed" : "stopped"): GloveboxError {
    const remedy = how === "closed" ? "Make a new one." : "Await stop(), then start it again to send."
    const cause = this.#failure?.error
    const why = cause === undefined ? "" : " after an unhandled exception"
    return new GloveboxError(
      "RUNTIME_STOPPED",
      `The runtime was ${how}${why}. ${remedy}`,
      cause === undefined ? undefined : { cause },
    )
  }
}

/** The handlers that wait for the one a call comes from; a stop inside it must not wait for them. */
function handlersAround(delivery: Delivery | undefined): Set<PendingItem> {
  const around = new Set(delivery ? [delivery] : [])
  // A Set grows while it is walked, which makes it the work list too.
  for (const current of around) for (const waiter of current.waiters) around.add(waiter)
  return around
}

function stateError(message: string): GloveboxError {
  return new GloveboxError("RUNTIME_STATE", message)
}
