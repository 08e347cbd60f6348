import { watchAbort } from "../../internal/watch-abort.ts"
import { ROOT_CONTEXT, trace } from "@opentelemetry/api"
import { type AgentId, sameAgentId } from "../agent-id.ts"
import type { PublishOptions, SendOptions } from "../agent-runtime.ts"
import type { Agent } from "../agent.ts"
import { currentCause } from "../ambient-scope.ts"
import type { InterventionChain } from "../intervention-chain.ts"
import type { Message } from "../message.ts"
import type { SubscriptionTable } from "../subscription-table.ts"
import { type RuntimeTracing, endSpan, parentContext } from "../telemetry/runtime-tracing.ts"
import { traceMetadataOf } from "../telemetry/trace-context.ts"
import type { TopicId } from "../topic-id.ts"
import type { AgentDirectory } from "./agent-directory.ts"
import { type Caller, Delivery } from "./delivery.ts"
import { droppedError, mailboxFullError, timeoutError } from "./delivery-errors.ts"
import type { DeliveryLog } from "./delivery-log.ts"
import { HandlerRunner } from "./handler-runner.ts"
import type { Mailbox } from "./mailbox.ts"
import type { OutgoingWork } from "./outgoing-work.ts"
import { PendingWork } from "./pending-work.ts"
import { Publication } from "./publication.ts"
import { Scheduler } from "./scheduler.ts"
import { queuedInCircle, waitsFor } from "./wait-graph.ts"

export interface DispatcherOptions {
  readonly directory: AgentDirectory
  readonly subscriptions: SubscriptionTable
  readonly interventions: InterventionChain
  readonly tracing: RuntimeTracing
  readonly log: DeliveryLog
  readonly mayBegin: (() => boolean) | undefined
  readonly onUnhandledException: (error: unknown) => void
  /** Called after each delivery has ended. */
  readonly onDone: () => void
}

export type PendingItem = Delivery | Publication | OutgoingWork

const ACCEPTED = Promise.resolve()
const NO_OPTIONS: SendOptions = {}

/** Takes messages from senders, through interventions, into the mailboxes of agents. */
export class Dispatcher {
  readonly scheduler = new Scheduler((mailbox) => this.#runner.visit(mailbox))
  readonly pending = new PendingWork<PendingItem>()
  readonly #options: DispatcherOptions
  readonly #runner: HandlerRunner

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#runner = new HandlerRunner({
      ...options,
      schedule: (mailbox) => this.scheduler.schedule(mailbox),
      onDone: (delivery) => {
        this.pending.delete(delivery)
        options.onDone()
      },
    })
  }

  /** Puts a message into an agent's mailbox; the caller gets exactly one answer. */
  send(message: Message, recipient: AgentId, options: SendOptions, caller: Caller): Delivery {
    const { messageId, sender } = options
    const mailbox = this.#options.directory.mailbox(recipient)
    const delivery = new Delivery(mailbox, message, sender, messageId, caller)
    this.#post(delivery, options)
    return delivery
  }

  /** Puts a message from another process into an agent's mailbox: it was looked at where it was sent. */
  receive(arrival: Delivery): void {
    this.#post(arrival, NO_OPTIONS)
  }

  /** Puts a message that was published in another process into the mailboxes of the agents it is for. */
  receiveAll(
    publication: Publication,
    agentTypes: readonly string[],
    adapt: (delivery: Delivery) => void,
  ): void {
    const unreachable: unknown[] = []
    for (const type of agentTypes) {
      this.#postTo({ type, key: publication.topicId.source }, publication, unreachable, adapt)
    }
    if (publication.deliveries.length === 0) publication.end()
    for (const error of unreachable) this.#options.onUnhandledException(error)
  }

  /** Something that was waited for elsewhere has ended. */
  finish(work: OutgoingWork): void {
    this.pending.delete(work)
    this.#options.onDone()
  }

  /** A handler begins to wait for a send; if that closes a circle, what can go first is let through. */
  waitedFor(delivery: Delivery, waiter: Delivery | undefined = currentDelivery()): void {
    if (!waiter || waiter === delivery || waiter.phase === "done" || delivery.isAnswered) return
    delivery.addWaiter(waiter)
    for (const queued of queuedInCircle(waiter, delivery)) this.#letThrough(queued)
  }

  /** Runs a task of the runtime in the place of a message: between two messages of the agent. */
  runTask(
    id: AgentId,
    message: Message,
    task: (agent: Agent) => unknown,
    options: SendOptions,
    caller: Caller,
  ): void {
    const mailbox = this.#options.directory.mailbox(id)
    const delivery = new Delivery(mailbox, message, undefined, undefined, caller)
    delivery.task = task
    this.#post(delivery, options)
    this.waitedFor(delivery)
  }

  /** Puts a message into the mailboxes of all subscribers; settles when each has room for it. */
  publish(message: Message, topicId: TopicId, options: PublishOptions): Promise<void> {
    const publication = new Publication(message, topicId, options.sender, options.messageId)
    if (this.#options.tracing.enabled) this.#trace(publication, topicId, "publish")
    publication.isGated = this.#options.interventions.seesPublishes
    const unreachable: unknown[] = []
    for (const agentType of this.#options.subscriptions.agentTypesFor(topicId.type)) {
      this.#postTo({ type: agentType, key: topicId.source }, publication, unreachable)
    }
    if (options.signal) this.#watchPublication(publication, options.signal)
    this.#options.log.published(publication)
    if (publication.isGated) void this.#interceptPublication(publication)
    else if (publication.deliveries.length === 0) publication.end()
    // Last, because it may stop the runtime, which then ends this publication too.
    for (const error of unreachable) this.#options.onUnhandledException(error)
    return publication.isAccepted ? ACCEPTED : publication.whenAccepted()
  }

  /** Ends everything that is under way, and tells running handlers. */
  cancelAll(reason: unknown): void {
    // Newest first: ending an older one would make room for it, and tell its publisher that all is well.
    for (const item of this.pending.list().toReversed()) {
      this.cancel(item, reason)
    }
  }

  /** Ends one thing that is under way, and tells its running handlers. */
  cancel(item: PendingItem, reason: unknown): void {
    if (item instanceof Delivery) this.#cancel(item, reason)
    else if (item instanceof Publication) this.#cancelPublication(item, reason)
    else item.cancel(reason)
  }

  /** Ends everything that waits for an agent which cannot be built. */
  refuseAll(mailbox: Mailbox, error: unknown): void {
    this.#runner.refuseAll(mailbox, error)
  }

  /** Gives up on what has not ended in time. */
  abandon(item: PendingItem): void {
    if (item instanceof Delivery) this.#runner.abandon(item)
    else this.pending.delete(item)
  }

  #post(delivery: Delivery, options: SendOptions): void {
    const { interventions, log, tracing } = this.#options
    const { mailbox, task } = delivery
    const mustFit = !task && mailbox.registration.mailbox.whenFull === "reject"
    // A request in a circle goes first, so it needs no room.
    if (mustFit && mailbox.isFull && !this.#isInCircle(delivery)) {
      throw mailboxFullError(mailbox, false)
    }
    const isOurs = !task && !delivery.arrival
    const isGated = interventions.seesSends && isOurs
    if (isGated) delivery.phase = "gated"
    if (isOurs && tracing.enabled) this.#trace(delivery, delivery.agentId, "send")
    this.pending.add(delivery)
    mailbox.add(delivery)
    if (options.signal || options.timeoutMs !== undefined) this.#watch(delivery, options)
    // Listeners may end it, so they hear of it only now, when it is in its place.
    if (isOurs) log.sent(delivery)
    if (!isGated) this.scheduler.schedule(mailbox)
    else if (delivery.phase === "gated") void this.#interceptSend(delivery)
  }

  #isInCircle({ arrival, mailbox, waiters }: Delivery): boolean {
    const current = arrival ? undefined : currentDelivery()
    if (current) return waitsFor(mailbox, current)
    return [...waiters].some((waiter) => waitsFor(mailbox, waiter))
  }

  #letThrough(delivery: Delivery): void {
    const { mailbox } = delivery
    if (delivery.isUrgent || ![...delivery.waiters].some((waiter) => waitsFor(mailbox, waiter))) return
    if (delivery.isWaitingForRoom) {
      delivery.publication?.refuse(mailboxFullError(mailbox, true))
      this.#runner.withdraw(delivery)
      return
    }
    mailbox.makeUrgent(delivery)
    this.scheduler.schedule(mailbox)
  }

  #postTo(
    recipient: AgentId,
    publication: Publication,
    unreachable: unknown[],
    adapt?: (delivery: Delivery) => void,
  ): void {
    if (sameAgentId(recipient, publication.sender)) return
    let mailbox: Mailbox
    try {
      mailbox = this.#options.directory.mailbox(recipient)
    } catch (error) {
      const { message, messageId, sender, topicId } = publication
      this.#options.log.undeliverable(
        { message, messageId, sender, topicId, agentId: recipient },
        error,
        false,
      )
      unreachable.push(error)
      return
    }
    const delivery = new Delivery(mailbox, publication.message, publication.sender, undefined, publication)
    delivery.trace = publication.trace
    adapt?.(delivery)
    if (mailbox.isFull && !this.#waitForRoom(delivery, publication)) return
    if (publication.isGated) delivery.phase = "gated"
    publication.add(delivery)
    this.pending.add(delivery)
    mailbox.add(delivery)
    this.scheduler.schedule(mailbox)
  }

  /** False when the mailbox is full and the publisher must not wait for it. */
  #waitForRoom(delivery: Delivery, publication: Publication): boolean {
    const { mailbox } = delivery
    const waiter = delivery.arrival ? undefined : currentDelivery()
    const isFutile = waiter !== undefined && waitsFor(mailbox, waiter)
    if (mailbox.registration.mailbox.whenFull === "reject" || isFutile) {
      const error = mailboxFullError(mailbox, isFutile)
      publication.refuse(error)
      this.#options.log.undeliverable(delivery, error, true)
      return false
    }
    if (waiter) delivery.addWaiter(waiter)
    delivery.isWaitingForRoom = true
    publication.waitForRoom()
    return true
  }

  async #interceptSend(delivery: Delivery): Promise<void> {
    const { interventions, log } = this.#options
    const { agentId: recipient, message, messageId, sender, signal } = delivery
    try {
      const outcome = await interventions.send(message, { messageId, sender, signal, recipient })
      if (delivery.phase !== "gated") return
      if (outcome.action === "deliver") {
        this.#open(delivery, outcome.message)
      } else {
        log.dropped(delivery, "send", outcome.reason)
        const error = droppedError(outcome.reason)
        delivery.refuse(error)
        this.#runner.withdraw(delivery, error)
      }
    } catch (error) {
      if (delivery.phase !== "gated") return
      log.undeliverable(delivery, error, true)
      delivery.refuse(error)
      this.#runner.withdraw(delivery, error)
    }
  }

  async #interceptPublication(publication: Publication): Promise<void> {
    const { interventions, log } = this.#options
    const { message, messageId, sender, signal, topicId } = publication
    this.pending.add(publication)
    try {
      const outcome = await interventions.publish(message, { messageId, sender, signal, topicId })
      if (!publication.isGated) return
      if (outcome.action === "deliver") {
        publication.open(outcome.message)
        for (const delivery of publication.deliveries) this.#open(delivery, outcome.message)
        if (publication.deliveries.length === 0) publication.end()
      } else {
        log.droppedPublication(publication, outcome.reason)
        this.#withdrawPublication(publication)
        publication.open(message)
      }
    } catch (error) {
      if (!publication.isGated) return
      log.undeliverable({ message, messageId, sender, topicId }, error, true)
      publication.refuse(error)
      this.#withdrawPublication(publication, error)
    } finally {
      this.pending.delete(publication)
    }
  }

  #open(delivery: Delivery, message: Message): void {
    if (delivery.phase !== "gated") return
    delivery.message = message
    delivery.phase = "queued"
    this.scheduler.schedule(delivery.mailbox)
  }

  #cancel(delivery: Delivery, reason: unknown): void {
    if (delivery.phase === "done" || delivery.isCancelled) return
    const started = delivery.phase === "running" || delivery.phase === "answering"
    delivery.abort(reason)
    delivery.refuse(reason)
    if (delivery.isWaitingForRoom) delivery.publication?.refuse(reason)
    if (!delivery.task) this.#options.log.cancelled(delivery, reason, started)
    if (!started) this.#runner.withdraw(delivery, reason)
  }

  #cancelPublication(publication: Publication, reason: unknown): void {
    publication.abort(reason)
    publication.refuse(reason)
    publication.isGated = false
    this.pending.delete(publication)
    for (const delivery of publication.deliveries) this.#cancel(delivery, reason)
    publication.end(reason)
  }

  #withdrawPublication(publication: Publication, error?: unknown): void {
    for (const delivery of publication.deliveries) {
      if (delivery.phase === "gated") this.#runner.withdraw(delivery, error)
    }
    publication.end(error)
  }

  #watch(delivery: Delivery, { signal, timeoutMs }: SendOptions): void {
    const { mailbox } = delivery
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => this.#cancel(delivery, timeoutError(mailbox, timeoutMs)), timeoutMs)
    const unwatch = signal && watchAbort(signal, (reason) => this.#cancel(delivery, reason))
    delivery.watch(() => {
      clearTimeout(timer)
      unwatch?.()
    })
  }

  #watchPublication(publication: Publication, signal: AbortSignal): void {
    publication.watch(watchAbort(signal, (reason) => this.#cancelPublication(publication, reason)))
  }

  #trace(item: Delivery | Publication, target: AgentId | TopicId, operation: "send" | "publish"): void {
    const { tracing } = this.#options
    const parent = parentContext(currentDelivery()?.handlerTrace)
    const created = tracing.start("create", target, item.message, item.messageId, parent)
    item.span = tracing.start(
      operation,
      target,
      item.message,
      item.messageId,
      trace.setSpan(ROOT_CONTEXT, created),
    )
    item.trace = traceMetadataOf(item.span)
    endSpan(created)
  }
}

/** The delivery on whose behalf this code runs, while it is under way. */
export function currentDelivery(): Delivery | undefined {
  const cause = currentCause()
  return cause instanceof Delivery && cause.phase !== "done" ? cause : undefined
}
