import { errorMessage } from "../../internal/error-message.ts"
import type { Refusal } from "./approval-desk.ts"
import { ApprovalError } from "./approval-error.ts"
import type { DecisionBasis } from "./approval-rules.ts"
import type { GateRequest } from "./gate-request.ts"

/** Whether an error says that this request waits. */
export function isPending(error: unknown, { id }: GateRequest): boolean {
  return error instanceof ApprovalError && error.code === "APPROVAL_PENDING" && error.requestId === id
}

/** Whatever goes wrong is a no. */
export function refusalOf(error: unknown): Refusal {
  const isOurs = error instanceof ApprovalError
  return { reason: `${isOurs ? "" : "It could not be asked for: "}${errorMessage(error)}`, cause: error }
}

/** What decided, in words. */
export function nameOf(basis: DecisionBasis): string {
  if (basis.by === "provider") return basis.provider
  return `${basis.by === "rule" ? "Rule" : "Default rule"} ${basis.rule + 1}`
}
