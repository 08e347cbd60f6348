import type { ErrorCode } from "../../../core/glovebox-error.ts"
import { shorten } from "../../../internal/describe.ts"
import type { CloudEvent } from "../wire/wire-message.ts"
import { EncodedEvent } from "./encoded-event.ts"
import { eventSize } from "./frame-size.ts"
import type { HostMetrics } from "./host-metrics.ts"
import type { EventParcel } from "./parcel.ts"
import { type Placement, placeKey } from "./placement.ts"
import type { SubscriptionRegistry } from "./subscription-registry.ts"
import type { WorkerSession } from "./worker-session.ts"

export interface EventRouterOptions {
  readonly placement: Placement
  readonly subscriptions: SubscriptionRegistry
  readonly metrics: HostMetrics
  readonly maxParked: number
  readonly onDropped: (event: CloudEvent, code: ErrorCode) => void
}

const MAX_NAME = 1024

/** Takes each event to the workers of its subscribers, once to each worker. */
export class EventRouter {
  readonly #options: EventRouterOptions
  readonly #parked = new Set<EventParcel>()
  isStopping = false

  constructor(options: EventRouterOptions) {
    this.#options = options
  }

  get parked(): number {
    return this.#parked.size
  }

  accept(publisher: WorkerSession, event: CloudEvent, seq: number): void {
    const { metrics, subscriptions } = this.#options
    metrics.events++
    const problem = this.#problemOf(publisher, event)
    if (problem) {
      this.#refuse(publisher, event, seq, ...problem)
      return
    }
    const targets = subscriptions.agentTypesFor(event.type)
    if (targets.length === 0) return
    const bytes = eventSize(event)
    const parcel = {
      kind: "event",
      event,
      encoded: new EncodedEvent(event),
      publisher,
      seq,
      bytes,
      isWaiting: false,
      isSettled: false,
    } as const
    const workers = this.route({ ...parcel, targets })
    if (publisher.isLink) publisher.events.add(event.id, workers)
  }

  /** Also for one that was for a worker that left before it was written; returns the workers that get it. */
  route(parcel: EventParcel): readonly WorkerSession[] {
    const { placement } = this.#options
    const { event, publisher, seq } = parcel
    const byWorker = new Map<WorkerSession, string[]>()
    const later: string[] = []
    let isFull = false
    for (const type of parcel.targets) {
      const place = placement.find({ type, key: event.source }, false)
      if (place === "SETTLING" || place === "DRAINING") later.push(type)
      else if (place === "QUEUE_FULL") isFull = true
      else if (typeof place !== "string") {
        const types = byWorker.get(place)
        if (types) types.push(type)
        else byWorker.set(place, [type])
      }
    }
    for (const [worker, targets] of byWorker) {
      if (!this.#offer(worker, { ...parcel, targets })) isFull = true
    }
    if (later.length > 0 && !this.#park({ ...parcel, targets: later })) isFull = true
    if (isFull) this.#refuse(publisher, event, seq, "QUEUE_FULL", FULL)
    return [...byWorker.keys()]
  }

  retryParked(): void {
    const parked = [...this.#parked]
    this.#parked.clear()
    for (const parcel of parked) this.route(parcel)
  }

  /** Calls an event off that the same worker published; false when it is none of its latest. */
  cancel(publisher: WorkerSession, id: string, reason: string): boolean {
    const workers = publisher.events.take(id)
    if (!workers) return false
    this.#options.metrics.cancelled++
    for (const parcel of this.#parked) if (isOf(parcel, publisher, id)) this.#parked.delete(parcel)
    for (const worker of workers) {
      for (const parcel of worker.outbox.waitingEvents()) {
        if (!isOf(parcel, publisher, id)) continue
        parcel.isSettled = true
        worker.outbox.discard(parcel)
      }
      worker.tell({ cancellations: [{ id, reason }] })
    }
    return true
  }

  /** It cannot be written to one of its workers. */
  refuse({ publisher, event, seq }: EventParcel, code: ErrorCode, text: string): void {
    this.#refuse(publisher, event, seq, code, text)
  }

  clear(): void {
    this.#parked.clear()
  }

  #offer(worker: WorkerSession, parcel: EventParcel): boolean {
    if (worker.leaving.size > 0) {
      for (const type of parcel.targets) worker.leaving.delete(placeKey({ type, key: parcel.event.source }))
    }
    if (!worker.outbox.offer(parcel)) return false
    this.#options.metrics.deliveries++
    return true
  }

  #park(parcel: EventParcel): boolean {
    if (this.#parked.size >= this.#options.maxParked) return false
    this.#parked.add(parcel)
    return true
  }

  #problemOf(publisher: WorkerSession, { type, source, id }: CloudEvent): [ErrorCode, string] | undefined {
    if (!isName(type) || !isName(source) || id.length > MAX_NAME) {
      return ["TOPIC_ID_INVALID", "The event names no valid topic."]
    }
    if (this.isStopping) return ["HOST_UNAVAILABLE", "The host is about to stop. Try again later."]
    if (publisher.grant.mayPublish(type)) return undefined
    return ["HOST_REFUSED", `The host does not let this worker publish to topics of type ${shorten(type)}.`]
  }

  #refuse(publisher: WorkerSession, event: CloudEvent, seq: number, code: ErrorCode, text: string): void {
    this.#options.metrics.refused++
    if (publisher.isLink) publisher.tell({ refusals: [{ seq, code, text }] })
    else this.#options.onDropped(event, code)
  }
}

const FULL = "Too many messages wait for a worker that subscribed, so not all have this one. Try again later."

function isOf(parcel: EventParcel, publisher: WorkerSession, id: string): boolean {
  return parcel.publisher === publisher && parcel.event.id === id
}

function isName(text: string): boolean {
  return text.length > 0 && text.length <= MAX_NAME
}
