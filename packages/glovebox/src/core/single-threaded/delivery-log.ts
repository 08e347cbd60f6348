import { formatAgentId } from "../agent-id.ts"
import type { Reply } from "../agent.ts"
import { type Logger, safeLogger } from "../logger.ts"
import { messageTypeOf } from "../message.ts"
import type { RuntimeEvent } from "../runtime-event.ts"
import { TypedEmitter } from "../../internal/typed-emitter.ts"
import type { Delivery } from "./delivery.ts"
import type { Publication } from "./publication.ts"

/** A message on its way, as far as logs tell of it. */
type Addressed = Pick<Delivery, "message" | "messageId" | "sender" | "agentId" | "topicId">

/** Tells listeners and the log what becomes of messages; builds nothing when nobody listens. */
export class DeliveryLog {
  readonly events: TypedEmitter<RuntimeEvent>
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = safeLogger(logger)
    this.events = new TypedEmitter((error) =>
      this.#logger.error("A listener of a runtime event failed", { error }),
    )
  }

  /** Whether durations are worth a look at the clock. */
  get isTimed(): boolean {
    return this.events.has("message-handled") || this.events.has("handler-failed")
  }

  sent(delivery: Delivery): void {
    if (!this.events.has("message-sent")) return
    const { message, messageId, sender, agentId: recipient } = delivery
    this.events.emit({ type: "message-sent", message, messageId, sender, recipient })
  }

  published(publication: Publication): void {
    if (!this.events.has("message-published")) return
    const { message, messageId, sender, topicId } = publication
    const recipients = publication.deliveries.length
    this.events.emit({ type: "message-published", message, messageId, sender, topicId, recipients })
  }

  delivered(delivery: Delivery): void {
    if (this.events.has("message-delivered"))
      this.events.emit({ type: "message-delivered", ...about(delivery) })
  }

  handled(delivery: Delivery, reply: Reply): void {
    if (!this.events.has("message-handled")) return
    this.events.emit({ type: "message-handled", ...about(delivery), reply, durationMs: elapsed(delivery) })
  }

  cancelled(delivery: Delivery, reason: unknown, started: boolean): void {
    if (!this.events.has("message-cancelled")) return
    this.events.emit({ type: "message-cancelled", ...about(delivery), reason, started })
  }

  dropped(delivery: Addressed, kind: "send" | "response", reason: string | undefined): void {
    this.#logger.warn("An intervention dropped a message", { ...fields(delivery), kind, reason })
    if (!this.events.has("message-dropped")) return
    this.events.emit({ type: "message-dropped", ...about(delivery), kind, reason })
  }

  droppedPublication(publication: Omit<Addressed, "agentId">, reason: string | undefined): void {
    const { message, messageId, sender, topicId } = publication
    this.#logger.warn("An intervention dropped a publication", { messageId, topicId, reason })
    if (!this.events.has("message-dropped")) return
    this.events.emit({
      type: "message-dropped",
      kind: "publish",
      message,
      messageId,
      sender,
      topicId,
      reason,
      recipient: undefined,
    })
  }

  unhandled(delivery: Delivery, error: unknown): void {
    this.#logger.debug("An agent does not handle a message", { ...fields(delivery), error })
    if (!this.events.has("message-unhandled")) return
    this.events.emit({ type: "message-unhandled", ...about(delivery), error })
  }

  /** `isReported` when the error also reaches a caller, so that the log need not shout. */
  failed(delivery: Delivery, error: unknown, isReported: boolean): void {
    const level = isReported || this.events.has("handler-failed") ? "debug" : "error"
    this.#logger[level](`A handler of ${formatAgentId(delivery.agentId)} failed`, {
      ...fields(delivery),
      error,
    })
    if (!this.events.has("handler-failed")) return
    this.events.emit({ type: "handler-failed", ...about(delivery), error, durationMs: elapsed(delivery) })
  }

  /** Something came from another process, or was to go there, that cannot be a message. */
  unreadable(messageId: string, error: unknown): void {
    this.#logger.error("A message could not be read or written", { messageId, error })
  }

  undeliverable(
    about: Pick<Delivery, "message" | "messageId" | "sender" | "topicId"> & {
      readonly agentId?: Delivery["agentId"]
    },
    error: unknown,
    isReported: boolean,
  ): void {
    const { message, messageId, sender, topicId, agentId: recipient } = about
    const level = isReported || this.events.has("message-undeliverable") ? "debug" : "error"
    this.#logger[level]("A message could not be delivered", { messageId, recipient, topicId, error })
    if (!this.events.has("message-undeliverable")) return
    this.events.emit({
      type: "message-undeliverable",
      message,
      messageId,
      sender,
      topicId,
      recipient,
      error,
    })
  }
}

function about(delivery: Addressed): {
  messageId: string
  message: Delivery["message"]
  sender: Delivery["sender"]
  recipient: Delivery["agentId"]
  topicId: Delivery["topicId"]
} {
  const { messageId, message, sender, agentId: recipient, topicId } = delivery
  return { messageId, message, sender, recipient, topicId }
}

// Messages stay out of the log: they hold what users say.
function fields(delivery: Addressed): Record<string, unknown> {
  return {
    messageId: delivery.messageId,
    messageType: messageTypeOf(delivery.message)?.typeName,
    agent: formatAgentId(delivery.agentId),
  }
}

function elapsed(delivery: Delivery): number {
  return performance.now() - delivery.startedAt
}
