import type { SessionState } from "./worker-session.ts"
import type { Switchboard } from "./switchboard.ts"

export interface HostWorkerStatus {
  readonly clientId: string
  /** "plain" is a worker of AutoGen. */
  readonly kind: "link" | "plain"
  /** Unopened: it has no channel yet. Away: it lost its connection, and may come back. */
  readonly state: Exclude<SessionState, "gone"> | "draining"
  readonly agentTypes: readonly string[]
  /** Agents whose place the host keeps there. */
  readonly agents: number
  /** Messages that wait for it in the host. */
  readonly queued: number
  /** Requests and events that it has and has not ended. */
  readonly outstanding: number
}

export interface HostStatus {
  readonly state: "new" | "listening" | "stopping"
  readonly address: string
  readonly workers: readonly HostWorkerStatus[]
  readonly agents: number
  readonly subscriptions: number
  /** Requests whose callers wait. */
  readonly pending: number
}

export function statusOf(address: string, board: Switchboard | undefined, isStopping: boolean): HostStatus {
  const state = isStopping ? "stopping" : board ? "listening" : "new"
  const workers: HostWorkerStatus[] = []
  for (const { clientId, isLink, state, isDraining, agentTypes, agents, outbox } of board?.sessions ?? []) {
    if (state === "gone") continue
    workers.push({
      clientId,
      kind: isLink ? "link" : "plain",
      state: isDraining && state === "open" ? "draining" : state,
      agentTypes: [...agentTypes],
      agents,
      queued: outbox.queued,
      outstanding: outbox.outstanding,
    })
  }
  return {
    state,
    address,
    workers,
    agents: board?.placement.placed ?? 0,
    subscriptions: board?.subscriptions.size ?? 0,
    pending: board?.requests.unsettled ?? 0,
  }
}
