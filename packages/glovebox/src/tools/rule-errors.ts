import type { ErrorCode } from "../core/index.ts"

/** Nothing could be written down, so that nothing may go on: for whoever runs the agent. */
export const UNRECORDED: readonly ErrorCode[] = [
  "AUDIT_LOG_BROKEN",
  "AUDIT_LOG_CLOSED",
  "AUDIT_LOG_LOCKED",
  "AUDIT_OUTCOME_LOST",
  "AUDIT_RECORD_INVALID",
  "AUDIT_WRITE_FAILED",
]
