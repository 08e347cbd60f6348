import type { CloudEvent, RpcRequest } from "../wire/wire-message.ts"
import type { EncodedEvent } from "./encoded-event.ts"
import type { WorkerSession } from "./worker-session.ts"

/** A request on its way through the host, from when it was read to its answer. */
export interface RequestParcel {
  readonly kind: "request"
  /** Its id between the host and the worker of the agent: ids of callers may be the same. */
  readonly hopId: string
  readonly caller: WorkerSession
  readonly request: RpcRequest
  /** The sends that wait for it, as far as known; "" when it was made outside a handler. */
  readonly chain: string
  /** A handler waits for it, so it may not wait for that handler's end. */
  readonly isChained: boolean
  readonly deadline: number
  readonly bytes: number
  readonly readAt: number
  target: WorkerSession | undefined
  /** In the line of the target's outbox. */
  isWaiting: boolean
  isWritten: boolean
  /** The caller has its answer, or wants none. */
  isSettled: boolean
}

/** An event on its way to one worker. */
export interface EventParcel {
  readonly kind: "event"
  readonly event: CloudEvent
  readonly encoded: EncodedEvent
  /** The agent types that get it there. */
  readonly targets: readonly string[]
  readonly publisher: WorkerSession
  /** Its number at the publisher, who is told what became of it. */
  readonly seq: number
  readonly bytes: number
  isWaiting: boolean
  isSettled: boolean
}

export type Parcel = RequestParcel | EventParcel
