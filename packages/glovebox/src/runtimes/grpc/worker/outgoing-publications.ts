import type { PublishOptions } from "../../../core/agent-runtime.ts"
import { inheritedAccess } from "../../../core/ambient-scope.ts"
import type { AccessScope } from "../../../core/access-guard.ts"
import { type ErrorCode, ERROR_CODES, GloveboxError } from "../../../core/glovebox-error.ts"
import type { Message } from "../../../core/message.ts"
import { checkPublish } from "../../../core/single-threaded/send-checks.ts"
import { type TopicId, formatTopicId } from "../../../core/topic-id.ts"
import { errorMessage } from "../../../internal/error-message.ts"
import type { Link } from "../link/link.ts"
import { eventOf } from "../wire/cloud-event.ts"
import type { Refusal } from "../wire/wire-message.ts"
import { writeMessage } from "./message-types.ts"
import type { OutgoingOptions } from "./outgoing-calls.ts"
import { OutgoingPublication } from "./outgoing-publication.ts"
import { startTrace } from "./start-trace.ts"
import { Turns } from "./turns.ts"

export interface OutgoingPublicationsOptions extends OutgoingOptions {
  readonly contentType: string
}

// How many that the host has can still be withdrawn, and are known when they come back to this worker.
const REMEMBERED = 1000

/** The published messages of this worker that the host does not have yet. */
export class OutgoingPublications {
  readonly #options: OutgoingPublicationsOptions
  readonly #waiting = new Set<OutgoingPublication>()
  readonly #bySeq = new Map<number, OutgoingPublication>()
  readonly #watched = new Set<OutgoingPublication>()
  readonly #access = new Map<string, AccessScope>()
  readonly #turns = new Turns()

  constructor(options: OutgoingPublicationsOptions) {
    this.#options = options
  }

  /** Settles when the host has the message. */
  async publish(message: Message, topic: TopicId, options: PublishOptions): Promise<void> {
    const { parts, port } = this.#options
    parts.lifecycle.checkOpen()
    checkPublish(message, topic, options)
    port.checkUp()
    const { type, source } = topic
    const publication = new OutgoingPublication(
      message,
      { type, source },
      options,
      (settled) => this.#settled(settled),
      (cancelled, reason) => this.#withdraw(cancelled, reason),
    )
    this.#rememberAccess(publication.messageId)
    this.#waiting.add(publication)
    parts.dispatcher.pending.add(publication)
    startTrace(parts.tracing, publication, topic, "publish")
    if (options.signal) this.#watch(publication, options.signal)
    this.#tell(publication)
    if (parts.interventions.seesPublishes) void this.#intercept(publication)
    else this.#post(publication)
    await publication.accepted
  }

  /** By what the publisher of an event was bound, if that was in this worker. */
  accessOf(eventId: string): AccessScope | undefined {
    return this.#access.get(eventId)
  }

  /** The host could not pass it on to all. */
  refused({ code, seq, text }: Refusal): void {
    const known: ErrorCode = ERROR_CODES.find((name) => name === code) ?? "QUEUE_FULL"
    this.#bySeq.get(seq)?.refuse(new GloveboxError(known, text))
  }

  /** Writes what was held back while there was no connection. */
  flush(): void {
    for (const publication of this.#waiting) if (publication.isHeld) this.#write(publication)
  }

  /** The host that had these is gone: it may have passed them on, but who has one knows it by its id. */
  sessionLost(): void {
    this.#bySeq.clear()
    for (const publication of this.#waiting) if (publication.event) publication.isHeld = true
  }

  refuseAll(): void {
    for (const publication of this.#waiting) {
      publication.refuse(publication.isHeld ? this.#options.port.unavailable() : connectionLost(publication))
    }
  }

  #rememberAccess(eventId: string): void {
    const access = inheritedAccess()
    if (!access) return
    this.#access.set(eventId, access)
    if (this.#access.size <= REMEMBERED) return
    const [oldest = ""] = this.#access.keys()
    this.#access.delete(oldest)
  }

  #watch(publication: OutgoingPublication, signal: AbortSignal): void {
    publication.watch(signal)
    this.#watched.add(publication)
    if (this.#watched.size <= REMEMBERED) return
    for (const oldest of this.#watched) {
      oldest.unwatch()
      this.#watched.delete(oldest)
      return
    }
  }

  #tell({ message, messageId, sender, topicId }: OutgoingPublication): void {
    const { events } = this.#options.parts.log
    if (!events.has("message-published")) return
    events.emit({ type: "message-published", message, messageId, sender, topicId, recipients: undefined })
  }

  async #intercept(publication: OutgoingPublication): Promise<void> {
    const { interventions, log } = this.#options.parts
    const { message, messageId, sender, signal, topicId } = publication
    const turn = this.#turns.take(formatTopicId(topicId))
    try {
      const outcome = await interventions.publish(message, { messageId, sender, signal, topicId })
      await turn.previous
      if (publication.isSettled) return
      if (outcome.action === "deliver") {
        publication.message = outcome.message
        this.#post(publication)
      } else {
        log.droppedPublication(publication, outcome.reason)
        publication.accept()
      }
    } catch (error) {
      if (publication.isSettled) return
      log.undeliverable(publication, error, true)
      publication.refuse(error)
    } finally {
      turn.end()
    }
  }

  #post(publication: OutgoingPublication): void {
    const { contentType, serialization } = this.#options
    try {
      const { message, messageId: id, sender, topicId, trace } = publication
      const payload = writeMessage(serialization, message, contentType)
      publication.event = eventOf({ id, topicId, sender, payload, trace })
    } catch (error) {
      publication.refuse(error)
      return
    }
    this.#write(publication)
  }

  #write(publication: OutgoingPublication): void {
    const { event, isSettled } = publication
    if (isSettled || !event) return
    const { port } = this.#options
    const { link } = port
    try {
      publication.isHeld = link === undefined
      if (!link) {
        port.checkRoom(this.#waiting.size)
        return
      }
      publication.seq = link.send({ cloudEvent: event })
      port.active()
    } catch (error) {
      publication.refuse(error)
      return
    }
    this.#bySeq.set(publication.seq, publication)
    void this.#acceptWhenReceived(publication, link, publication.seq)
  }

  async #acceptWhenReceived(publication: OutgoingPublication, link: Link, seq: number): Promise<void> {
    try {
      await link.whenReceived(seq)
      publication.accept()
    } catch {
      // A new session sends it again, or its end refuses it.
    }
  }

  #withdraw(publication: OutgoingPublication, reason: unknown): void {
    this.#watched.delete(publication)
    if (!publication.event || publication.isHeld) return
    this.#options.port.notify({
      cancellations: [{ id: publication.messageId, reason: errorMessage(reason) }],
    })
  }

  #settled(publication: OutgoingPublication): void {
    this.#waiting.delete(publication)
    this.#bySeq.delete(publication.seq)
    this.#options.parts.dispatcher.finish(publication)
  }
}

function connectionLost({ topicId }: OutgoingPublication): GloveboxError {
  return new GloveboxError(
    "CONNECTION_LOST",
    `The connection to the host was lost before it had the message for topic ${formatTopicId(topicId)}. It may have passed it on.`,
  )
}
