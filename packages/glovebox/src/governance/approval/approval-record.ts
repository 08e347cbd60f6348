import type { ApprovalPayload } from "./approval-payload.ts"
import type { DecisionBasis } from "./approval-rules.ts"
import type { GateRequest } from "./gate-request.ts"

/** What was decided, by whom and on what ground, for an audit log. */
export interface ApprovalRecord {
  readonly request: GateRequest
  readonly decision: "approved" | "edited" | "denied" | "withdrawn"
  readonly basis: DecisionBasis
  /** Of what may run; undefined when nothing may. */
  readonly sha256: string | undefined
  /** What may run, when it is not what was asked for. */
  readonly edited: ApprovalPayload | undefined
  readonly by: string | undefined
  readonly reason: string | undefined
  readonly decided: number
}

export type OnDecision = (record: ApprovalRecord) => void | Promise<void>

/** Told of a request that somebody will be asked about. */
export type OnRequest = (request: GateRequest) => void | Promise<void>
