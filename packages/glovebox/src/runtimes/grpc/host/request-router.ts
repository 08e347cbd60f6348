import type { ErrorCode } from "../../../core/glovebox-error.ts"
import { shorten } from "../../../internal/describe.ts"
import { MESSAGE_METADATA } from "../wire/metadata-names.ts"
import type { RpcRequest, RpcResponse, WireAgentId } from "../wire/wire-message.ts"
import { Deadlines } from "./deadlines.ts"
import { failure } from "./failure.ts"
import { requestSize } from "./frame-size.ts"
import type { HostMetrics } from "./host-metrics.ts"
import type { RequestParcel } from "./parcel.ts"
import { type PlaceFailure, type Placement, placeKey } from "./placement.ts"
import type { WorkerSession } from "./worker-session.ts"

export interface RequestRouterOptions {
  readonly placement: Placement
  readonly metrics: HostMetrics
  /** For requests that bring no deadline. */
  readonly requestTimeoutMs: number
  readonly maxParked: number
  /** Something ended at the worker. */
  readonly onEnded: (worker: WorkerSession) => void
}

const MAX_NAME = 1024
// A day is as good as for ever, and its sum with a clock is exact.
const MAX_TIMEOUT_MS = 86_400_000

/** Takes each request to its agent's worker and the answer back: every request gets exactly one. */
export class RequestRouter {
  readonly #options: RequestRouterOptions
  readonly #deadlines = new Deadlines<RequestParcel>((parcel) => this.#expire(parcel))
  // For agents that have no place yet, but soon will.
  readonly #parked = new Set<RequestParcel>()
  #unsettled = 0
  #lastId = 0
  #onSettled: (() => void) | undefined
  isStopping = false

  constructor(options: RequestRouterOptions) {
    this.#options = options
  }

  /** Requests whose callers wait. */
  get unsettled(): number {
    return this.#unsettled
  }

  get parked(): number {
    return this.#parked.size
  }

  accept(caller: WorkerSession, request: RpcRequest): void {
    const { metrics, requestTimeoutMs } = this.#options
    metrics.requests++
    const { source, target, metadata, request_id: id } = request
    const problem = this.#problemOf(caller, id, target)
    if (problem) {
      metrics.refused++
      caller.respond(failure(id, ...problem))
      return
    }
    const readAt = performance.now()
    const timeout = readTimeout(metadata?.[MESSAGE_METADATA.timeoutMs]) ?? requestTimeoutMs
    const chain = metadata?.[MESSAGE_METADATA.chain] ?? caller.chainOf(source)
    const parcel: RequestParcel = {
      kind: "request",
      hopId: (++this.#lastId).toString(36),
      caller,
      request,
      chain,
      isChained: chain !== "",
      readAt,
      deadline: readAt + timeout,
      bytes: requestSize(request),
      target: undefined,
      isWaiting: false,
      isWritten: false,
      isSettled: false,
    }
    caller.outgoing.set(id, parcel)
    this.#unsettled++
    this.#deadlines.add(parcel)
    this.route(parcel)
  }

  /** Also for one that was for a worker that left before it was written. */
  route(parcel: RequestParcel): void {
    const { placement, maxParked } = this.#options
    const agent = parcel.request.target
    if (parcel.isSettled || !agent) return
    const place = placement.find(agent, parcel.isChained)
    if (place === "SETTLING" || place === "DRAINING") {
      parcel.target = undefined
      if (this.#parked.size >= maxParked) this.refuse(parcel, "QUEUE_FULL", queueFull(agent))
      else this.#parked.add(parcel)
      return
    }
    if (typeof place === "string") {
      this.refuse(parcel, place, noPlace(place, agent))
      return
    }
    parcel.target = place
    place.leaving.delete(placeKey(agent))
    if (!place.outbox.offer(parcel)) {
      parcel.target = undefined
      this.refuse(parcel, "QUEUE_FULL", queueFull(agent))
    }
  }

  retryParked(): void {
    const parked = [...this.#parked]
    this.#parked.clear()
    for (const parcel of parked) this.route(parcel)
  }

  answer(worker: WorkerSession, response: RpcResponse): void {
    const { metrics, onEnded } = this.#options
    const parcel = worker.incoming.get(response.request_id)
    if (!parcel) {
      metrics.strayResponses++
      return
    }
    worker.ended(parcel)
    worker.outbox.requestEnded()
    if (parcel.isSettled) metrics.strayResponses++
    else {
      metrics.responses++
      this.#settle(parcel)
      parcel.caller.respond(restored(parcel, response))
    }
    onEnded(worker)
  }

  /** The caller no longer wants an answer. */
  cancel(caller: WorkerSession, id: string, reason: string): boolean {
    const parcel = caller.outgoing.get(id)
    if (!parcel) return false
    this.#options.metrics.cancelled++
    this.#giveUp(parcel, reason)
    return true
  }

  /** Its agents can answer no more. */
  workerGone(worker: WorkerSession): void {
    for (const parcel of worker.incoming.values()) {
      if (parcel.isSettled) continue
      parcel.target = undefined
      if (parcel.isWritten) this.refuse(parcel, "WORKER_LOST", workerLost(parcel.request.target))
      else this.route(parcel)
    }
    worker.incoming.clear()
    for (const parcel of worker.outgoing.values()) this.#giveUp(parcel, "The caller is gone.")
  }

  refuse(parcel: RequestParcel, code: ErrorCode, text: string): void {
    if (parcel.isSettled) return
    this.#options.metrics.refused++
    this.#settle(parcel)
    parcel.caller.respond(failure(parcel.request.request_id, code, text))
  }

  /** Settles when nobody waits for an answer, or after this time. */
  async whenSettled(withinMs: number): Promise<void> {
    if (this.#unsettled === 0 || withinMs === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.#onSettled = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Answers everyone that still waits. */
  refuseAll(sessions: Iterable<WorkerSession>): void {
    this.#parked.clear()
    for (const session of sessions) {
      for (const parcel of session.outgoing.values()) {
        const text = `The host stopped before ${name(parcel.request.target)} answered.`
        if (parcel.isWritten)
          this.refuse(parcel, "CONNECTION_LOST", `${text} The message may have been handled.`)
        else this.refuse(parcel, "HOST_UNAVAILABLE", text)
      }
    }
    this.#deadlines.clear()
  }

  #problemOf(
    caller: WorkerSession,
    id: string,
    target: WireAgentId | null | undefined,
  ): [ErrorCode, string] | undefined {
    if (!target || !isName(target.type) || !isName(target.key)) {
      return ["AGENT_ID_INVALID", "The request names no valid agent id."]
    }
    if (this.isStopping) return ["HOST_UNAVAILABLE", "The host is about to stop. Try again later."]
    if (!caller.grant.maySend(target.type)) {
      return [
        "HOST_REFUSED",
        `The host does not let this worker send to agents of type ${shorten(target.type)}.`,
      ]
    }
    if (caller.outgoing.has(id)) return ["MESSAGE_INVALID", "Another request with this id is pending."]
    return undefined
  }

  #expire(parcel: RequestParcel): void {
    if (parcel.isSettled) return
    this.#options.metrics.timedOut++
    const after = Math.round(parcel.deadline - parcel.readAt)
    const text = `${name(parcel.request.target)} did not answer within ${after} ms.`
    this.#giveUp(parcel, text)
    parcel.caller.respond(failure(parcel.request.request_id, "SEND_TIMEOUT", text))
  }

  #giveUp(parcel: RequestParcel, reason: string): void {
    if (parcel.isSettled) return
    const { target, hopId } = parcel
    const isThere = target?.incoming.has(hopId) ?? false
    this.#settle(parcel)
    if (isThere) target?.tell({ cancellations: [{ id: hopId, reason }] })
  }

  #settle(parcel: RequestParcel): void {
    const { target, caller, hopId } = parcel
    parcel.isSettled = true
    this.#unsettled--
    this.#deadlines.delete(parcel)
    this.#parked.delete(parcel)
    caller.outgoing.delete(parcel.request.request_id)
    if (this.#unsettled === 0) this.#onSettled?.()
    if (!target) return
    if (parcel.isWaiting) target.outbox.discard(parcel)
    else if (target.isPlain && target.incoming.has(hopId)) {
      // It may never answer; what it answers late is for nobody.
      target.ended(parcel)
      target.outbox.requestEnded()
      this.#options.onEnded(target)
    }
  }
}

function restored({ request }: RequestParcel, response: RpcResponse): RpcResponse {
  const { payload, error, metadata } = response
  const { request_id } = request
  if (!error && !payload && metadata?.[MESSAGE_METADATA.empty] !== "1") {
    // AutoGen sends this for an exception without a text, and takes it for an answer.
    return failure(request_id, "AGENT_FAILED", "The agent failed without a text.")
  }
  return { request_id, payload, error, metadata }
}

function noPlace(code: PlaceFailure, agent: WireAgentId): string {
  if (code === "AGENT_TYPE_UNKNOWN") {
    return `No worker has registered the agent type ${shorten(agent.type)}. Register it, or check the name.`
  }
  if (code === "AGENT_UNKNOWN") {
    return `No worker has the agent ${name(agent)}, and none builds agents of its type on demand.`
  }
  return "The host has as many agents as it can. Try again later."
}

function queueFull(agent: WireAgentId): string {
  return `Too many messages wait for the worker of ${name(agent)}. Try again later.`
}

function workerLost(agent: WireAgentId | null | undefined): string {
  return `The worker of ${name(agent)} was lost or left before it answered. The message may have been handled.`
}

function name(agent: WireAgentId | null | undefined): string {
  return agent ? shorten(`${agent.type}/${agent.key}`) : "an agent"
}

function isName(text: string): boolean {
  return text.length > 0 && text.length <= MAX_NAME
}

function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  return value > 0 ? Math.min(value, MAX_TIMEOUT_MS) : undefined
}
