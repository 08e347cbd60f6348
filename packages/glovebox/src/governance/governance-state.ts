import { z } from "zod"
import { GloveboxError } from "../core/index.ts"
import { formatIssues } from "../internal/format-issues.ts"
import type { ApprovalGateState } from "./approval/index.ts"

/** What governance keeps, as plain data. */
export interface GovernanceState {
  readonly type: "GovernanceState"
  readonly version: 1
  /** Undefined where nobody is asked. */
  readonly approvals?: ApprovalGateState | undefined
}

const schema = z.strictObject({
  type: z.literal("GovernanceState"),
  version: z.literal(1),
  // The gate reads it itself.
  approvals: z.unknown().optional(),
})

/** @throws STATE_INVALID */
export function readGovernanceState(state: unknown): { readonly approvals?: unknown } {
  const { data, error } = schema.safeParse(state)
  if (data) return data
  throw new GloveboxError("STATE_INVALID", `This is no state of governance: ${formatIssues(error.issues)}`)
}
