import { randomUUID } from "node:crypto"
import type { Span } from "@opentelemetry/api"
import type { AgentId } from "../../../core/agent-id.ts"
import type { PublishOptions } from "../../../core/agent-runtime.ts"
import type { Message } from "../../../core/message.ts"
import type { OutgoingWork } from "../../../core/single-threaded/outgoing-work.ts"
import { endSpan } from "../../../core/telemetry/runtime-tracing.ts"
import type { TraceMetadata } from "../../../core/telemetry/trace-context.ts"
import type { TopicId } from "../../../core/topic-id.ts"
import { watchAbort } from "../../../internal/watch-abort.ts"
import type { CloudEvent } from "../wire/wire-message.ts"

/** A published message until the host has it. */
export class OutgoingPublication implements OutgoingWork {
  message: Message
  readonly topicId: TopicId
  readonly sender: AgentId | undefined
  readonly messageId: string
  /** Settles when the host has it, or will not have it. */
  readonly accepted: Promise<void>
  event: CloudEvent | undefined
  /** Its number on the link. */
  seq = 0
  /** It waits for a connection. */
  isHeld = false
  trace: TraceMetadata | undefined
  span: Span | undefined
  readonly #onSettled: (publication: OutgoingPublication) => void
  readonly #onAborted: (publication: OutgoingPublication, reason: unknown) => void
  #caller: { resolve(): void; reject(error: unknown): void } | undefined
  #controller: AbortController | undefined
  #unwatch: (() => void) | undefined

  constructor(
    message: Message,
    topicId: TopicId,
    { messageId, sender }: PublishOptions,
    onSettled: (publication: OutgoingPublication) => void,
    onAborted: (publication: OutgoingPublication, reason: unknown) => void,
  ) {
    this.message = message
    this.topicId = topicId
    this.sender = sender
    this.messageId = messageId ?? randomUUID()
    this.#onSettled = onSettled
    this.#onAborted = onAborted
    this.accepted = new Promise((resolve, reject) => {
      this.#caller = { resolve, reject }
    })
    // The publisher hears of it, unless it has failed before it could wait.
    this.accepted.catch(() => {})
  }

  /** What interventions watch. */
  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal
  }

  get isSettled(): boolean {
    return this.#caller === undefined
  }

  /** Watched also when the host has it: the agents that have not begun need not. */
  watch(signal: AbortSignal): void {
    this.#unwatch = watchAbort(signal, (reason) => this.abort(reason))
  }

  unwatch(): void {
    this.#unwatch?.()
    this.#unwatch = undefined
  }

  accept(): void {
    const caller = this.#settle()
    endSpan(this.span)
    caller?.resolve()
  }

  refuse(error: unknown): void {
    const caller = this.#settle()
    if (!caller) return
    this.unwatch()
    endSpan(this.span, error)
    this.#controller?.abort(error)
    caller.reject(error)
  }

  /** The publisher gave up. */
  abort(reason: unknown): void {
    this.unwatch()
    this.#onAborted(this, reason)
    this.refuse(reason)
  }

  /** The runtime stops. */
  cancel(reason: unknown): void {
    // That the host has it may have come along with what stopped the runtime.
    if (this.event && !this.isHeld) setImmediate(() => this.refuse(reason))
    else this.refuse(reason)
  }

  #settle(): { resolve(): void; reject(error: unknown): void } | undefined {
    const caller = this.#caller
    this.#caller = undefined
    if (caller) this.#onSettled(this)
    return caller
  }
}
