import { randomUUID } from "node:crypto"
import type { Context, Span } from "@opentelemetry/api"
import { type AccessScope, nestAccess } from "../access-guard.ts"
import type { AgentId } from "../agent-id.ts"
import type { Agent, Reply } from "../agent.ts"
import { type HandlerScope, inheritedAccess } from "../ambient-scope.ts"
import type { Message } from "../message.ts"
import type { MessageContext } from "../message-context.ts"
import type { TraceMetadata } from "../telemetry/trace-context.ts"
import type { TopicId } from "../topic-id.ts"
import type { DeliveryQueue } from "./delivery-queue.ts"
import type { Mailbox } from "./mailbox.ts"
import type { Publication } from "./publication.ts"

/** Who waits for the outcome of a send. */
export interface Caller {
  resolve(reply: Reply): void
  reject(error: unknown): void
}

/** What is known of a message that came from another process. */
export interface Arrival {
  /** The sends that wait for it, told to whoever it makes its handler send to. */
  readonly chain: string
  /** Reads the message again once its agent exists, which knows more types than the runtime did. */
  readonly reread: (() => Message) | undefined
}

const NO_WAITERS: ReadonlySet<Delivery> = new Set()

/**
 * One message on its way to one agent: gated while interventions look at it, queued in the mailbox,
 * running in the handler, answering while interventions look at the reply, done. The caller may be answered earlier than the handler ends.
 */
export class Delivery implements HandlerScope {
  message: Message
  readonly mailbox: Mailbox
  readonly sender: AgentId | undefined
  readonly publication: Publication | undefined
  /** By what its sender is bound: what is done on behalf of somebody is bound by that too. */
  senderAccess = inheritedAccess()
  /** It came from another process, where its sender is. */
  arrival: Arrival | undefined
  phase: "gated" | "queued" | "running" | "answering" | "done" = "queued"
  /** Work of the runtime that takes the place of the message. */
  task: ((agent: Agent) => unknown) | undefined
  isWaitingForRoom = false
  /** It was let in ahead of the others, because what runs there waits for it. */
  isUrgent = false

  // Links of the queue it waits in.
  queue: DeliveryQueue | undefined
  previous: Delivery | undefined
  next: Delivery | undefined

  /** The sends that this one's handler waits for. */
  children: Set<Delivery> | undefined

  startedAt = 0
  trace: TraceMetadata | undefined
  span: Span | undefined
  handlerTrace: Context | undefined

  #waiters: Set<Delivery> | undefined
  #messageId: string | undefined
  #caller: Caller | undefined
  #controller: AbortController | undefined
  #cancelled: { readonly reason: unknown } | undefined
  #unwatch: (() => void) | undefined

  constructor(
    mailbox: Mailbox,
    message: Message,
    sender: AgentId | undefined,
    messageId: string | undefined,
    origin: Caller | Publication,
  ) {
    this.mailbox = mailbox
    this.message = message
    this.sender = sender
    this.#messageId = messageId
    if ("resolve" in origin) this.#caller = origin
    else this.publication = origin
  }

  get scope(): "handler" {
    return "handler"
  }

  get agentId(): AgentId {
    return this.mailbox.id
  }

  get access(): AccessScope | undefined {
    return nestAccess(this.mailbox.access, this.senderAccess)
  }

  get topicId(): TopicId | undefined {
    return this.publication?.topicId
  }

  get isRpc(): boolean {
    return this.publication === undefined
  }

  /** Made on demand: most handlers never look. */
  get messageId(): string {
    return (this.#messageId ??= this.publication?.messageId ?? randomUUID())
  }

  /** Made on demand: an AbortController costs more than a whole delivery. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#cancelled) this.#controller.abort(this.#cancelled.reason)
    }
    return this.#controller.signal
  }

  get isCancelled(): boolean {
    return this.#cancelled !== undefined
  }

  get isAnswered(): boolean {
    return this.#caller === undefined
  }

  /** Those whose handlers wait for this one; more than one when they share its promise. */
  get waiters(): ReadonlySet<Delivery> {
    return this.#waiters ?? NO_WAITERS
  }

  addWaiter(waiter: Delivery): void {
    ;(this.#waiters ??= new Set()).add(waiter)
    ;(waiter.children ??= new Set()).add(this)
  }

  /** Stops watching the caller's signal and deadline once `stop` has been called, or the caller answered. */
  watch(stop: () => void): void {
    this.#unwatch = stop
  }

  answer(reply: Reply): void {
    const caller = this.#release()
    caller?.resolve(reply)
  }

  refuse(error: unknown): void {
    const caller = this.#release()
    caller?.reject(error)
  }

  /** Tells a running handler that nobody waits for it any more. */
  abort(reason: unknown): void {
    if (this.#cancelled) return
    this.#cancelled = { reason }
    this.#controller?.abort(reason)
  }

  /** Lets go of everything; the last thing that happens to a delivery. */
  end(): void {
    this.phase = "done"
    this.leaveWaiting()
    this.#release()
    if (!this.children) return
    for (const child of this.children) child.#waiters?.delete(this)
    this.children = undefined
  }

  /** It has got its place in the mailbox, or needs none any more. */
  leaveWaiting(): void {
    if (!this.isWaitingForRoom) return
    this.isWaitingForRoom = false
    this.#forgetWaiters()
    this.publication?.admitted()
  }

  #forgetWaiters(): void {
    if (!this.#waiters) return
    for (const waiter of this.#waiters) waiter.children?.delete(this)
    this.#waiters = undefined
  }

  #release(): Caller | undefined {
    const caller = this.#caller
    this.#caller = undefined
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#forgetWaiters()
    return caller
  }
}

/** The part of a delivery that a handler sees. */
export class DeliveryContext implements MessageContext {
  readonly #delivery: Delivery

  constructor(delivery: Delivery) {
    this.#delivery = delivery
  }

  get messageId(): string {
    return this.#delivery.messageId
  }

  get sender(): AgentId | undefined {
    return this.#delivery.sender
  }

  get topicId(): TopicId | undefined {
    return this.#delivery.topicId
  }

  get isRpc(): boolean {
    return this.#delivery.isRpc
  }

  get signal(): AbortSignal {
    return this.#delivery.signal
  }
}
