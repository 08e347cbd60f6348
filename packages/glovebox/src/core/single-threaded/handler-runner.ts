import { context, trace } from "@opentelemetry/api"
import { formatAgentId, sameAgentId } from "../agent-id.ts"
import type { Agent, Reply } from "../agent.ts"
import { GloveboxError } from "../glovebox-error.ts"
import { runInHandlerScope } from "../ambient-scope.ts"
import type { ChainOutcome, InterventionChain } from "../intervention-chain.ts"
import { isMessage } from "../message.ts"
import { MessageUnhandledError } from "../message-unhandled-error.ts"
import { type RuntimeTracing, endSpan } from "../telemetry/runtime-tracing.ts"
import { contextFromTraceMetadata } from "../telemetry/trace-context.ts"
import { describe } from "../../internal/describe.ts"
import { isError } from "../../internal/is-error.ts"
import type { AgentDirectory } from "./agent-directory.ts"
import { type Delivery, DeliveryContext } from "./delivery.ts"
import type { DeliveryLog } from "./delivery-log.ts"
import { droppedError } from "./delivery-errors.ts"
import type { Mailbox } from "./mailbox.ts"

export interface HandlerRunnerOptions {
  readonly directory: AgentDirectory
  readonly interventions: InterventionChain
  readonly tracing: RuntimeTracing
  readonly log: DeliveryLog
  /** Asked before a handler begins; undefined where it always may. */
  readonly mayBegin: (() => boolean) | undefined
  readonly schedule: (mailbox: Mailbox) => void
  /** Called once for each delivery, whatever became of it. */
  readonly onDone: (delivery: Delivery) => void
  /** Called with an error of a published message, which has no caller to go to. */
  readonly onUnhandledException: (error: unknown) => void
}

/** Takes deliveries out of mailboxes, runs the agents' handlers, and carries the replies back. */
export class HandlerRunner {
  readonly #options: HandlerRunnerOptions

  constructor(options: HandlerRunnerOptions) {
    this.#options = options
  }

  /** Handles one message of the mailbox; builds its agent first where there is none. */
  visit(mailbox: Mailbox): void {
    // What it was scheduled for may have been withdrawn meanwhile.
    if (mailbox.isForgotten || !mailbox.hasWork) return
    if (this.#options.mayBegin?.() === false) return
    if (!mailbox.agent) {
      void this.#build(mailbox)
      return
    }
    const delivery = mailbox.take()
    if (!delivery) return
    if (mailbox.hasWork) this.#options.schedule(mailbox)
    this.#run(delivery, mailbox.agent)
  }

  /** Ends a delivery that has left its mailbox. */
  complete(delivery: Delivery, error?: unknown): void {
    if (delivery.phase === "done") return
    delivery.end()
    this.#options.onDone(delivery)
    endSpan(delivery.span, error)
    delivery.publication?.finishOne()
  }

  /** Gives up on a handler that does not end: its agent is free for other messages. */
  abandon(delivery: Delivery): void {
    if (delivery.phase === "running") this.#leave(delivery)
    this.complete(delivery)
  }

  /** Ends a delivery that no handler has seen. */
  withdraw(delivery: Delivery, error?: unknown): void {
    delivery.mailbox.remove(delivery)
    // What waited behind it may go on.
    this.#options.schedule(delivery.mailbox)
    this.complete(delivery, error)
  }

  /** Ends everything that waits for an agent which cannot be built. */
  refuseAll(mailbox: Mailbox, error: unknown): void {
    const { log, onUnhandledException } = this.#options
    for (const delivery of mailbox.removeAll()) {
      log.undeliverable(delivery, error, delivery.isRpc)
      delivery.refuse(error)
      this.complete(delivery, error)
      if (!delivery.isRpc) onUnhandledException(error)
    }
  }

  async #build(mailbox: Mailbox): Promise<void> {
    const { directory, schedule } = this.#options
    try {
      const agent = directory.agent(mailbox)
      if (agent instanceof Promise) await agent
      schedule(mailbox)
    } catch {
      // The directory has told of it, and what waited was refused.
    }
  }

  #run(delivery: Delivery, agent: Agent): void {
    const { log } = this.#options
    if (log.isTimed) delivery.startedAt = performance.now()
    let outcome: unknown
    try {
      if (delivery.arrival?.reread) delivery.message = delivery.arrival.reread()
      log.delivered(delivery)
      outcome = delivery.trace
        ? this.#runTraced(delivery, agent)
        : runInHandlerScope(delivery, invoke, agent, delivery)
      // What a handler gives is not to be trusted: even a look at its `then` may throw.
      if (isThenable(outcome)) {
        asPromise(outcome).then(
          (value) => this.#handled(delivery, value),
          (error: unknown) => this.#failed(delivery, error),
        )
        return
      }
    } catch (error) {
      this.#failed(delivery, error)
      return
    }
    this.#handled(delivery, outcome)
  }

  async #runTraced(delivery: Delivery, agent: Agent): Promise<unknown> {
    const { agentId, message, messageId } = delivery
    const parent = contextFromTraceMetadata(delivery.trace)
    const span = this.#options.tracing.start("process", agentId, message, messageId, parent)
    delivery.handlerTrace = trace.setSpan(parent, span)
    try {
      const run = (): unknown => runInHandlerScope(delivery, invoke, agent, delivery)
      const outcome = await context.with(delivery.handlerTrace, run)
      endSpan(span)
      return outcome
    } catch (error) {
      endSpan(span, error)
      throw error
    }
  }

  #handled(delivery: Delivery, value: unknown): void {
    const { interventions, log } = this.#options
    // Given up on meanwhile.
    if (delivery.phase === "done") return
    this.#leave(delivery)
    if (!delivery.isRpc || delivery.task) {
      if (!delivery.task) log.handled(delivery, undefined)
      delivery.answer(undefined)
      this.complete(delivery)
    } else if (value !== undefined && !isMessage(value)) {
      const error = invalidReply(delivery, value)
      log.failed(delivery, error, true)
      delivery.refuse(error)
      this.complete(delivery, error)
    } else if (interventions.seesResponses && !delivery.isAnswered) {
      void this.#intercept(delivery, value)
    } else {
      log.handled(delivery, value)
      delivery.answer(value)
      this.complete(delivery)
    }
  }

  #failed(delivery: Delivery, error: unknown): void {
    const { log, onUnhandledException } = this.#options
    if (delivery.phase === "done") return
    this.#leave(delivery)
    delivery.refuse(error)
    this.complete(delivery, error)
    if (isUnhandledBy(delivery, error)) {
      log.unhandled(delivery, error)
    } else {
      // A handler that fails because it was told to stop has done as it was told.
      const isReported = delivery.isRpc || delivery.isCancelled
      if (!delivery.task) log.failed(delivery, error, isReported)
      if (!isReported) onUnhandledException(error)
    }
  }

  async #intercept(delivery: Delivery, reply: Reply): Promise<void> {
    const { interventions, log } = this.#options
    delivery.phase = "answering"
    let failure: unknown
    try {
      const { agentId, message: request, messageId, sender: recipient } = delivery
      const about = { messageId, request, sender: agentId, recipient }
      // In the message's scope: what a hook sends, it sends on behalf of this reply.
      const ask = (): Promise<ChainOutcome<Reply>> => interventions.response(reply, about)
      const outcome = await runInHandlerScope(delivery, ask, undefined, undefined)
      if (outcome.action === "deliver") {
        log.handled(delivery, outcome.message)
        delivery.answer(outcome.message)
      } else {
        log.dropped(delivery, "response", outcome.reason)
        failure = droppedError(outcome.reason)
        delivery.refuse(failure)
      }
    } catch (error) {
      failure = error
      log.undeliverable(delivery, error, true)
      delivery.refuse(error)
    } finally {
      this.complete(delivery, failure)
    }
  }

  #leave(delivery: Delivery): void {
    const { mailbox } = delivery
    mailbox.finish(delivery)
    if (mailbox.hasWork) this.#options.schedule(mailbox)
  }
}

function invoke(agent: Agent, delivery: Delivery): unknown {
  if (delivery.task) return delivery.task(agent)
  return agent.onMessage(delivery.message, new DeliveryContext(delivery))
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function"
}

/** A promise whose reactions run once and later, whatever the thenable does. */
function asPromise(thenable: PromiseLike<unknown>): Promise<unknown> {
  if (thenable instanceof Promise && thenable.then === Promise.prototype.then) return thenable
  return new Promise((resolve) => {
    resolve(thenable)
  })
}

function isUnhandledBy(delivery: Delivery, error: unknown): boolean {
  return (
    isError(error) && error instanceof MessageUnhandledError && sameAgentId(error.agentId, delivery.agentId)
  )
}

function invalidReply(delivery: Delivery, value: unknown): GloveboxError {
  return new GloveboxError(
    "REPLY_INVALID",
    `Agent ${formatAgentId(delivery.agentId)} answered ${describe(value)}. Return a message made by defineMessage, or nothing.`,
  )
}
