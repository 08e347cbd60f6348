import { randomUUID } from "node:crypto"
import type { Span } from "@opentelemetry/api"
import type { AgentId } from "../agent-id.ts"
import type { Message } from "../message.ts"
import { endSpan } from "../telemetry/runtime-tracing.ts"
import type { TraceMetadata } from "../telemetry/trace-context.ts"
import type { TopicId } from "../topic-id.ts"
import type { Delivery } from "./delivery.ts"

/** One message on its way to every subscriber of a topic; the publisher waits until all have room for it. */
export class Publication {
  message: Message
  readonly topicId: TopicId
  readonly sender: AgentId | undefined
  readonly deliveries: Delivery[] = []
  isGated = false
  trace: TraceMetadata | undefined
  span: Span | undefined

  #messageId: string | undefined
  #waiting = 0
  #unfinished = 0
  #refusal: { readonly error: unknown } | undefined
  #caller: { resolve(): void; reject(error: unknown): void } | undefined
  #controller: AbortController | undefined
  #unwatch: (() => void) | undefined

  constructor(
    message: Message,
    topicId: TopicId,
    sender: AgentId | undefined,
    messageId: string | undefined,
  ) {
    this.message = message
    this.topicId = topicId
    this.sender = sender
    this.#messageId = messageId
  }

  get messageId(): string {
    return (this.#messageId ??= randomUUID())
  }

  /** What interventions watch; the deliveries have signals of their own. */
  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal
  }

  add(delivery: Delivery): void {
    this.deliveries.push(delivery)
    this.#unfinished += 1
  }

  /** Keeps the first reason why a recipient cannot have it; the others still get it. */
  refuse(error: unknown): void {
    this.#refusal ??= { error }
    if (this.#caller) this.#settle()
  }

  waitForRoom(): void {
    this.#waiting += 1
  }

  /** A delivery has got, or no longer needs, its place in the mailbox. */
  admitted(): void {
    this.#waiting -= 1
    this.#settle()
  }

  open(message: Message): void {
    this.message = message
    this.isGated = false
    this.#settle()
  }

  /** The publisher's promise. */
  whenAccepted(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#caller = { resolve, reject }
      this.#settle()
    })
  }

  get isAccepted(): boolean {
    return !this.isGated && this.#waiting === 0 && this.#refusal === undefined
  }

  /** `stop` runs once every recipient is done, or at once when there is none. */
  watch(stop: () => void): void {
    if (this.#unfinished === 0 && !this.isGated) stop()
    else this.#unwatch = stop
  }

  finishOne(): void {
    this.#unfinished -= 1
    if (this.#unfinished === 0) this.end()
  }

  end(error?: unknown): void {
    endSpan(this.span, error)
    this.span = undefined
    this.#unwatch?.()
    this.#unwatch = undefined
  }

  abort(reason: unknown): void {
    this.#controller?.abort(reason)
  }

  #settle(): void {
    const caller = this.#caller
    if (!caller) return
    if (this.#refusal && (this.#waiting === 0 || this.isGated)) caller.reject(this.#refusal.error)
    else if (this.isAccepted) caller.resolve()
    else return
    this.#caller = undefined
  }
}
