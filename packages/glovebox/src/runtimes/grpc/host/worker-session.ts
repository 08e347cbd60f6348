import { randomBytes, timingSafeEqual } from "node:crypto"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { Link } from "../link/link.ts"
import { Grant } from "../security/index.ts"
import type { ControlMessage, Notice, RpcResponse, WireAgentId } from "../wire/wire-message.ts"
import { AgentsAtWork } from "./agents-at-work.ts"
import { failure } from "./failure.ts"
import { Outbox, type OutboxExits, type OutboxLimits } from "./outbox.ts"
import type { RequestParcel } from "./parcel.ts"
import { RecentEvents } from "./recent-events.ts"
import { writeParcel } from "./write-parcel.ts"

/** Unopened: it called, but has no channel yet. Away: its channel was lost, and may come back. */
export type SessionState = "unopened" | "open" | "away" | "gone"

export interface ControlStream {
  readonly writableLength: number
  write(message: ControlMessage): unknown
  end(): unknown
}

/** A control message that waits for its answer. */
export interface ControlWait {
  readonly from: WorkerSession
  readonly to: WorkerSession
  readonly message: ControlMessage
  readonly deadline: number
  isSent: boolean
}

/** What the host knows of one client. */
export class WorkerSession {
  readonly clientId: string
  readonly secret = randomBytes(24).toString("base64url")
  readonly outbox: Outbox
  /** Requests that are at this worker, by the host's id. */
  readonly incoming = new Map<string, RequestParcel>()
  /** Requests that this worker made, by its own id. */
  readonly outgoing = new Map<string, RequestParcel>()
  readonly agentTypes = new Set<string>()
  readonly subscriptionIds = new Set<string>()
  /** Agents that live no more; forgotten once nothing for them can be on its way. */
  readonly leaving = new Map<string, { readonly type: string; readonly key: string }>()
  readonly events = new RecentEvents()
  readonly controlWaits = new Map<string, ControlWait>()
  grant: Grant = Grant.everything
  state: SessionState = "unopened"
  isLink = false
  isDraining = false
  /** True from the first thing that shows that the worker has its secret. */
  isConfirmed = false
  agents = 0
  link: Link | undefined
  control: ControlStream | undefined
  /** Runs out for a client without a channel. */
  graceTimer: NodeJS.Timeout | undefined
  readonly #atWork = new AgentsAtWork()

  constructor(clientId: string, limits: OutboxLimits, onRefused: OutboxExits["onRefused"]) {
    this.clientId = clientId
    this.outbox = new Outbox(limits, {
      write: (parcel) => writeParcel(this, parcel),
      onRefused,
    })
  }

  get isPlain(): boolean {
    return !this.isLink
  }

  /** A request is at this worker. */
  began(parcel: RequestParcel): void {
    this.incoming.set(parcel.hopId, parcel)
    if (this.isPlain) this.#atWork.began(parcel)
  }

  ended(parcel: RequestParcel): void {
    this.incoming.delete(parcel.hopId)
    if (this.isPlain) this.#atWork.ended(parcel)
  }

  /** What a worker that tells no chain itself sends for this agent, for all that is known. */
  chainOf(agent: WireAgentId | null | undefined): string {
    return this.isPlain ? this.#atWork.chainOf(agent) : ""
  }

  hasSecret(given: string | undefined): boolean {
    const [a, b] = [Buffer.from(given ?? ""), Buffer.from(this.secret)]
    return a.length === b.length && timingSafeEqual(a, b)
  }

  respond(response: RpcResponse): void {
    try {
      this.link?.send({ response })
    } catch (error) {
      if (!GloveboxError.is(error, "MESSAGE_TOO_LARGE")) return
      this.respond(
        failure(response.request_id, "MESSAGE_TOO_LARGE", `The answer is too large. ${error.message}`),
      )
    }
  }

  /** To a plain worker nothing is told but messages. */
  tell(notice: Notice): void {
    if (!this.isLink) return
    try {
      this.link?.send({ notice })
    } catch {
      // The link broke, because the worker reads nothing: it detached, and the session ends.
    }
  }

  /** Lets what waits go, unless the worker has no connection or wants nothing new. */
  pump(): void {
    this.outbox.isHeld = this.state !== "open" || this.isDraining
    this.outbox.pump()
  }
}
