import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { Logger } from "../../../core/logger.ts"
import { Link } from "../link/link.ts"
import type { LinkStream } from "../link/link-stream.ts"
import type { WireMessage } from "../wire/wire-message.ts"
import { ControlRouter } from "./control-router.ts"
import { EventRouter } from "./event-router.ts"
import { failure } from "./failure.ts"
import { newMetrics } from "./host-metrics.ts"
import type { HostSettings } from "./host-options.ts"
import { takeNotice } from "./notices.ts"
import type { Parcel } from "./parcel.ts"
import { Placement } from "./placement.ts"
import { QuietWatch } from "./quiet-watch.ts"
import { RequestRouter } from "./request-router.ts"
import { SessionDirectory } from "./session-directory.ts"
import { SubscriptionRegistry } from "./subscription-registry.ts"
import type { WorkerSession } from "./worker-session.ts"

export interface ChannelTerms {
  readonly isLink: boolean
  readonly credits: number
  readonly maxMessageBytes: number
}

// Answers pass a full queue, so a small limit for messages must not break the connection of a busy caller.
const MIN_LINK_QUEUE = 1000

/** Connects the workers of a host with each other: everything but gRPC itself. */
export class Switchboard {
  readonly metrics = newMetrics()
  readonly placement = new Placement()
  readonly subscriptions = new SubscriptionRegistry()
  readonly sessions: SessionDirectory
  readonly requests: RequestRouter
  readonly events: EventRouter
  readonly control: ControlRouter
  readonly quiet: QuietWatch
  readonly #settings: HostSettings
  readonly #logger: Logger
  readonly #onGone: (session: WorkerSession) => void
  readonly #startedAt = performance.now()
  #settleTimer: NodeJS.Timeout | undefined
  #settlesUntil = 0

  constructor(settings: HostSettings, logger: Logger, onGone: (session: WorkerSession) => void) {
    const { metrics, placement, subscriptions } = this
    const { graceMs, requestTimeoutMs, maxQueued: maxParked } = settings
    this.#settings = settings
    this.#logger = logger
    this.#onGone = onGone
    this.sessions = new SessionDirectory({
      limits: settings,
      graceMs,
      onRefused: (parcel, error) => this.#refuse(parcel, error),
      onExpired: (session) => this.end(session, "lost"),
    })
    this.requests = new RequestRouter({
      placement,
      metrics,
      requestTimeoutMs,
      maxParked,
      onEnded: (worker) => this.ended(worker),
    })
    this.events = new EventRouter({
      placement,
      subscriptions,
      metrics,
      maxParked,
      onDropped: (event, code) => logger.warn("An event was not delivered", { topicType: event.type, code }),
    })
    this.control = new ControlRouter({ placement, sessions: this.sessions, graceMs, requestTimeoutMs })
    this.quiet = new QuietWatch({
      workers: () => [...this.sessions].filter(({ isLink, state }) => isLink && state !== "gone"),
      isQuiet: () => this.#isQuiet(),
      activity: () => metrics.requests + metrics.events + metrics.responses,
    })
    this.#settleFor(settings.settleMs)
  }

  /** Gives a client its connection. */
  open(session: WorkerSession, stream: LinkStream, terms: ChannelTerms): void {
    const { heartbeatMs, maxQueued, maxQueuedBytes } = this.#settings
    const { isLink, credits, maxMessageBytes } = terms
    this.metrics.connections++
    session.isLink = isLink
    session.outbox.credits = isLink ? credits : Number.POSITIVE_INFINITY
    session.outbox.countsEvents = isLink
    session.link = new Link({
      onMessage: (message) => this.#take(session, message),
      onDetached: (cause) => this.#detached(session, cause),
      onRoom: () => session.pump(),
      onTooLarge: (message, error) => this.#tooLarge(session, message, error),
      heartbeatMs,
      maxQueued: Math.max(maxQueued, MIN_LINK_QUEUE),
      maxQueuedBytes,
      maxMessageBytes,
      acksEventsAtOnce: true,
      isPlain: !isLink,
    })
    session.link.attach(stream, 0)
    this.#opened(session)
    if (isLink) this.quiet.joined(session)
  }

  /** False when the two sides cannot continue where they were. */
  resume(session: WorkerSession, stream: LinkStream, received: number, terms: ChannelTerms): boolean {
    try {
      session.link?.attach(stream, received, { maxMessageBytes: terms.maxMessageBytes })
    } catch {
      return false
    }
    session.outbox.credits = terms.credits
    this.metrics.resumed++
    this.#opened(session)
    return true
  }

  /** A worker came that this host does not know, but another before it did: others may have agents alive too. */
  settle(): void {
    this.#settleFor(this.#settings.graceMs)
  }

  retryParked(): void {
    if (this.requests.parked > 0) this.requests.retryParked()
    if (this.events.parked > 0) this.events.retryParked()
  }

  /** Something ended at a worker, which may have room for more now. */
  ended(session: WorkerSession): void {
    const { outbox, leaving, isDraining } = session
    session.pump()
    if (leaving.size === 0 || outbox.outstanding > 0 || (outbox.queued > 0 && !isDraining)) return
    for (const { type, key } of leaving.values()) this.placement.forget(type, key, session)
    leaving.clear()
    if (isDraining) this.reroute(session)
  }

  /** What waits for a worker goes to where its agents have their place now. */
  reroute(session: WorkerSession): void {
    for (const parcel of session.outbox.takeWaiting()) {
      if (parcel.kind === "request") this.requests.route(parcel)
      else this.events.route(parcel)
    }
  }

  /** Forgets a client and all that it had; whoever waits for its agents gets an answer. */
  end(session: WorkerSession, how: "left" | "lost"): void {
    if (session.state === "gone") return
    const wasOpened = session.state !== "unopened"
    session.state = "gone"
    this.sessions.delete(session)
    this.placement.removeWorker(session)
    this.subscriptions.removeWorker(session)
    this.requests.workerGone(session)
    this.reroute(session)
    this.control.left(session)
    session.link?.close()
    session.control?.end()
    this.quiet.left(session)
    this.retryParked()
    this.#onGone(session)
    if (how === "left" || !wasOpened) return
    this.metrics.workersLost++
    this.#logger.warn("A worker was lost", { clientId: session.clientId })
  }

  stop(): void {
    clearTimeout(this.#settleTimer)
    this.placement.isSettling = false
    this.requests.refuseAll(this.sessions)
    this.events.clear()
    this.quiet.stop()
    this.control.stop()
  }

  #settleFor(ms: number): void {
    const endsAt = this.#startedAt + ms
    const left = endsAt - performance.now()
    if (left <= 0 || endsAt <= this.#settlesUntil) return
    this.#settlesUntil = endsAt
    this.placement.isSettling = true
    clearTimeout(this.#settleTimer)
    this.#settleTimer = setTimeout(() => {
      this.placement.isSettling = false
      this.retryParked()
    }, left)
    this.#settleTimer.unref()
  }

  #opened(session: WorkerSession): void {
    clearTimeout(session.graceTimer)
    session.state = "open"
    session.pump()
  }

  #take(session: WorkerSession, message: WireMessage): void {
    session.isConfirmed = true
    const { request, response, cloudEvent, notice, seq = 0 } = message
    if (request) this.requests.accept(session, request)
    else if (response) this.requests.answer(session, response)
    else if (cloudEvent) this.events.accept(session, cloudEvent, seq)
    else if (notice && session.isLink) takeNotice(this, session, notice)
  }

  #detached(session: WorkerSession, cause: unknown): void {
    if (session.state !== "open") return
    session.state = "away"
    // A plain worker does not come back, and one that reads nothing at all has no use for what waits.
    if (session.isPlain || GloveboxError.is(cause, "QUEUE_FULL")) {
      const how = session.isPlain && session.incoming.size === 0 ? "left" : "lost"
      queueMicrotask(() => this.end(session, how))
      return
    }
    session.pump()
    this.sessions.startGrace(session)
    this.#logger.info("The connection of a worker was lost", { clientId: session.clientId })
  }

  #refuse(parcel: Parcel, error: GloveboxError): void {
    if (parcel.kind === "request") this.requests.refuse(parcel, error.code, error.message)
    else this.events.refuse(parcel, error.code, error.message)
  }

  /** What had its number already, when the worker came back with a smaller limit. */
  #tooLarge(session: WorkerSession, { request, response }: WireMessage, error: GloveboxError): void {
    if (response) session.respond(failure(response.request_id, error.code, error.message))
    const parcel = request && session.incoming.get(request.request_id)
    if (!parcel) return
    session.ended(parcel)
    session.outbox.requestEnded()
    this.requests.refuse(parcel, error.code, error.message)
  }

  #isQuiet(): boolean {
    if (this.requests.unsettled > 0 || this.events.parked > 0) return false
    for (const { outbox } of this.sessions) if (outbox.queued > 0 || outbox.outstanding > 0) return false
    return true
  }
}
