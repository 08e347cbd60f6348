import type { Attributes } from "@opentelemetry/api"
import { GloveboxError } from "../../core/index.ts"
import type { GateRequest } from "../approval/gate-request.ts"
import { AGENT_NAME, APPROVAL_DECISION, APPROVAL_KIND, ERROR_TYPE, POLICY_SHA256 } from "./names.ts"
import type { Redact, Subject } from "./observer.ts"

export interface ApprovalOutcome {
  /** Such as "approved", "edited" or "denied". */
  readonly decision: string
  /** Who decided. */
  readonly by?: string | undefined
}

export function approval(request: GateRequest, redact: Redact): Subject<ApprovalOutcome> {
  const { kind, agent, created } = request
  return {
    name: `approval ${kind}`,
    // The answer may come in another process; a clock may have been set back.
    since: Math.min(created, Date.now()),
    attributes: () => attributesOf(request),
    outcome: ({ decision, by }) => ({
      [APPROVAL_DECISION]: decision,
      "glovebox.approval.by": by === undefined ? undefined : redact(by),
    }),
    // A gate tells by an error that it was not approved, which is no fault of the asking.
    outcomeOfError: (error) => {
      const decision = DECISIONS.find(([code]) => GloveboxError.is(error, code))?.[1]
      return decision === undefined ? undefined : { decision }
    },
    measure: ({ approvals, approvalDuration }, { seconds, outcome, errorType }) => {
      const decision = outcome?.decision ?? "none"
      const measured = {
        [AGENT_NAME]: agent,
        [APPROVAL_KIND]: kind,
        [APPROVAL_DECISION]: decision,
        ...(errorType === undefined ? {} : { [ERROR_TYPE]: errorType }),
      }
      approvals.add(1, measured)
      // A run that is suspended waits elsewhere, in no time that could be told here.
      if (decision !== "pending") approvalDuration.record(seconds, measured)
    },
  }
}

const DECISIONS = [
  ["APPROVAL_DENIED", "denied"],
  ["APPROVAL_EXPIRED", "expired"],
  ["APPROVAL_PENDING", "pending"],
] as const

function attributesOf(request: GateRequest): Attributes {
  return {
    [AGENT_NAME]: request.agent,
    [APPROVAL_KIND]: request.kind,
    [POLICY_SHA256]: request.policySha256,
    "glovebox.approval.id": request.id,
    "glovebox.approval.sha256": request.sha256,
    "glovebox.approval.risk": request.risk,
    "glovebox.approval.widenings": request.widenings.length,
  }
}
