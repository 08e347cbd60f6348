import { randomUUID } from "node:crypto"
import { GloveboxError } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { hashCall } from "../../tools/hash-call.ts"
import type { ApprovalDecision, Approve } from "../../tools/index.ts"
import { toolPayload } from "../approval/approval-adapters.ts"
import type { ApprovalRecord } from "../approval/approval-record.ts"
import type { GateRequest } from "../approval/gate-request.ts"
import { ApprovalAudit } from "./approval-audit.ts"
import type { Controls } from "./controls.ts"

type Outcome = Pick<ApprovalRecord, "decision" | "sha256" | "edited" | "reason">

const RECORDED = new WeakSet<Approve>()

/** One that writes down itself what is asked and answered, as a gate's does. */
export function recordsItself(approve: Approve): Approve {
  RECORDED.add(approve)
  return approve
}

/** One that asks another: it is written down where that one is. */
export function asRecordedAs(asked: Approve, approve: Approve): Approve {
  return RECORDED.has(asked) ? recordsItself(approve) : approve
}

/** The same, with what is asked and answered in the audit log: no gate does it for a function of the user's. */
export function recordedApprove(approve: Approve, controls: Controls): Approve {
  if (RECORDED.has(approve)) return approve
  const { agent } = controls
  const approvals = new ApprovalAudit(controls)
  return recordsItself(async (request) => {
    const { tool, risk, arguments: args, sha256 } = request
    const asked: GateRequest = {
      id: randomUUID(),
      kind: "tool",
      payload: toolPayload(tool, args, sha256),
      sha256,
      agent,
      risk,
      widenings: [],
      context: [],
      created: Date.now(),
      expires: Infinity,
    }
    const record = async (outcome: Outcome): Promise<void> =>
      approvals.decision({
        request: asked,
        basis: { by: "provider", provider: `approve of ${agent}` },
        by: undefined,
        decided: Date.now(),
        ...outcome,
      })
    await approvals.request(asked)
    let decision: ApprovalDecision
    try {
      decision = await approve(request)
    } catch (error) {
      if (!GloveboxError.is(error, "APPROVAL_PENDING")) await record(denied(errorMessage(error)))
      throw error
    }
    await record(outcomeOf(tool, sha256, decision))
    return decision
  })
}

// As a tool reads it: anything but a plain yes is a no.
function outcomeOf(tool: string, sha256: string, decision: unknown): Outcome {
  const { approved, reason, arguments: args } = (decision ?? {}) as Readonly<Record<string, unknown>>
  if (approved !== true) return denied(typeof reason === "string" ? reason : undefined)
  if (args === undefined) return { decision: "approved", sha256, edited: undefined, reason: undefined }
  const callSha256 = hashCall(tool, args)
  return {
    decision: "edited",
    sha256: callSha256,
    edited: toolPayload(tool, args, callSha256),
    reason: undefined,
  }
}

function denied(reason: string | undefined): Outcome {
  return { decision: "denied", sha256: undefined, edited: undefined, reason }
}
