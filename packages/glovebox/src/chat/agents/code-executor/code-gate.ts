import { GovernedExecutor } from "../../../governance/effects/governed-executor.ts"
import type { ApprovalGate, ApprovalLane, Governor } from "../../../governance/index.ts"
import type { ApproveCode, CodeApprovalRequest, CodeGate } from "./approve-code.ts"
import type { ReadCodeExecutorOptions } from "./code-executor-agent-options.ts"
import { CodeJournal } from "./code-journal.ts"

const UNSEEN =
  "It would run on this machine itself, and there a rule is nobody who looks at it. Use a sandbox, or set dangerouslyRunWithoutApproval: true."

/** Whom an agent asks before it runs code: whoever its options name, else the gate of its governance, else nobody. */
export function codeGateOf(
  read: ReadCodeExecutorOptions,
  governor: Governor | undefined,
): CodeGate | undefined {
  const { name, governance, approve, approvalTimeout: timeoutMs, codeExecutor } = read
  if (approve) {
    const journal = governor && new CodeJournal(governor.approvals, { by: `approve of ${name}`, timeoutMs })
    const gate = governance?.gate
    return { approve: gate ? withinRules(approve, gate) : approve, timeoutMs, journal }
  }
  const asked = governor?.approveCode
  if (!asked || !governance?.gate) return undefined
  if (codeExecutor?.runsOnHost === true && !read.dangerouslyRunWithoutApproval) {
    return { approve: seenBySomebody(asked, governance.gate, governor), timeoutMs }
  }
  // One that asks by another gate asks for that one.
  const isAsked = asksItself(codeExecutor) && codeExecutor !== undefined && governor.binds(codeExecutor)
  return isAsked ? undefined : { approve: asked, timeoutMs }
}

/** Whether an executor asks for leave with each run. */
export function asksItself(executor: unknown): boolean {
  return executor instanceof GovernedExecutor && executor.asks
}

// What a rule denies, nobody can allow.
function withinRules(approve: ApproveCode, gate: ApprovalGate): ApproveCode {
  return (request) =>
    laneOf(request, gate) === "deny"
      ? { approved: false, reason: "A rule denies it.", by: "rules" }
      : approve(request)
}

function laneOf(
  { agent, codeBlocks, policy, beyondPolicy }: CodeApprovalRequest,
  gate: ApprovalGate,
): ApprovalLane {
  return gate.laneOf({
    kind: "code",
    payload: { codeBlocks: [...codeBlocks] },
    agent,
    policy,
    beyondPolicy,
  })
}

// A rule for sandboxes, such as one that allows a language, must not let code onto the machine.
function seenBySomebody(approve: ApproveCode, gate: ApprovalGate, governor: Governor): ApproveCode {
  const journal = new CodeJournal(governor.approvals, { by: "CodeExecutorAgent" })
  return async (request) => {
    if (laneOf(request, gate) !== "allow") return approve(request)
    const denied = { approved: false, reason: UNSEEN } as const
    await journal.asked(request)
    await journal.answered(request, denied)
    return denied
  }
}
