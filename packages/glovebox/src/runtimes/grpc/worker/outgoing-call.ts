import { randomUUID } from "node:crypto"
import type { Span } from "@opentelemetry/api"
import { watchAbort } from "../../../internal/watch-abort.ts"
import type { AccessScope } from "../../../core/access-guard.ts"
import type { AgentId } from "../../../core/agent-id.ts"
import type { SendOptions } from "../../../core/agent-runtime.ts"
import type { Reply } from "../../../core/agent.ts"
import { inheritedAccess } from "../../../core/ambient-scope.ts"
import type { Message } from "../../../core/message.ts"
import type { Delivery } from "../../../core/single-threaded/delivery.ts"
import type { OutgoingWork } from "../../../core/single-threaded/outgoing-work.ts"
import { endSpan } from "../../../core/telemetry/runtime-tracing.ts"
import type { TraceMetadata } from "../../../core/telemetry/trace-context.ts"

export interface OutgoingCallOptions {
  /** Unique among all workers: a host may pass it on as it is. */
  readonly id: string
  readonly message: Message
  readonly recipient: AgentId
  readonly options: SendOptions
  readonly timeoutMs: number
  /** The delivery whose handler sends. */
  readonly cause: Delivery | undefined
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
  readonly onTimeout: (call: OutgoingCall) => void
  readonly onAbort: (call: OutgoingCall, reason: unknown) => void
  /** Called once, whatever became of it. */
  readonly onSettled: (call: OutgoingCall) => void
}

/** A send that waits for its reply from the host. */
export class OutgoingCall implements OutgoingWork {
  readonly id: string
  message: Message
  readonly agentId: AgentId
  readonly sender: AgentId | undefined
  readonly topicId = undefined
  readonly timeoutMs: number
  readonly deadline: number
  readonly cause: Delivery | undefined
  /** By what the sender is bound, for what comes back to this process because of it. */
  readonly access: AccessScope | undefined = inheritedAccess()
  /** The host may have it. */
  isPosted = false
  /** It waits for a connection. */
  isHeld = false
  trace: TraceMetadata | undefined
  span: Span | undefined
  readonly #options: OutgoingCallOptions
  readonly #timer: NodeJS.Timeout
  #messageId: string | undefined
  #controller: AbortController | undefined
  #unwatch: (() => void) | undefined
  #waiters: Set<Delivery> | undefined
  #waiterListeners: ((waiter: Delivery) => void)[] | undefined
  #endListeners: (() => void)[] | undefined
  #isSettled = false

  constructor(options: OutgoingCallOptions) {
    const { cause, id, message, recipient, timeoutMs } = options
    this.#options = options
    this.id = id
    this.message = message
    this.agentId = recipient
    this.sender = options.options.sender
    this.cause = cause
    this.timeoutMs = timeoutMs
    this.#messageId = options.options.messageId
    this.deadline = performance.now() + timeoutMs
    this.#timer = setTimeout(onTimeout, timeoutMs, this)
  }

  /** The id that the sender gave, or that somebody has asked for. */
  get knownMessageId(): string | undefined {
    return this.#messageId
  }

  get messageId(): string {
    return (this.#messageId ??= randomUUID())
  }

  /** What interventions watch. */
  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  /** The handlers that wait for the reply. */
  get waiters(): ReadonlySet<Delivery> | undefined {
    return this.#waiters
  }

  addWaiter(waiter: Delivery): void {
    this.#waiters ??= new Set()
    if (this.#isSettled || this.#waiters.has(waiter)) return
    this.#waiters.add(waiter)
    for (const listener of this.#waiterListeners ?? []) listener(waiter)
  }

  /** Tells of all that wait for the reply, also of those that do so later. */
  onWaiter(listener: (waiter: Delivery) => void): void {
    for (const waiter of this.#waiters ?? []) listener(waiter)
    ;(this.#waiterListeners ??= []).push(listener)
  }

  /** Called when it has ended, at once when it has. */
  onEnd(listener: () => void): void {
    if (this.#isSettled) listener()
    else (this.#endListeners ??= []).push(listener)
  }

  watch(signal: AbortSignal): void {
    this.#unwatch = watchAbort(signal, (reason) => this.#options.onAbort(this, reason))
    if (this.#isSettled) this.#unwatch()
  }

  answer(reply: Reply): void {
    if (!this.#settle()) return
    endSpan(this.span)
    this.#options.resolve(reply)
  }

  refuse(error: unknown): void {
    if (!this.#settle()) return
    endSpan(this.span, error)
    this.#controller?.abort(error)
    this.#options.reject(error)
  }

  /** The runtime stops. */
  cancel(reason: unknown): void {
    this.#options.onAbort(this, reason)
  }

  timedOut(): void {
    this.#options.onTimeout(this)
  }

  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    clearTimeout(this.#timer)
    this.#unwatch?.()
    this.#options.onSettled(this)
    for (const listener of this.#endListeners ?? []) listener()
    return true
  }
}

function onTimeout(call: OutgoingCall): void {
  call.timedOut()
}
