import type { CodeExecutor } from "../../executors/index.ts"
import { canonicalJson } from "../../internal/canonical-json.ts"
import { type PolicyChange, SandboxPolicy } from "../../policy/index.ts"

const HOST: readonly PolicyChange[] = [
  { path: "host", from: "absent", to: "everything this process's user may", effect: "widens" },
]

export interface Reach {
  readonly policy: SandboxPolicy | undefined
  readonly beyondPolicy: readonly PolicyChange[]
}

/** What code in an executor can reach, as far as it tells: without a policy nobody knows. */
export function reachOf(executor: CodeExecutor): Reach {
  const { policy, beyondPolicy } = executor as {
    readonly policy?: unknown
    readonly beyondPolicy?: readonly PolicyChange[] | undefined
  }
  return {
    policy: policy instanceof SandboxPolicy ? policy : undefined,
    // Where there is no wall, a policy that nobody holds says nothing.
    beyondPolicy: beyondPolicy?.length ? beyondPolicy : executor.runsOnHost === true ? HOST : [],
  }
}

/** Whether an executor reaches no further now than it did. */
export function isWithin(now: Reach, before: Reach): boolean {
  if (canonicalJson(now.beyondPolicy) !== canonicalJson(before.beyondPolicy)) return false
  if (!now.policy || !before.policy) return now.policy === before.policy
  if (now.policy.sha256 === before.policy.sha256) return true
  // Somebody may narrow it at any time.
  return now.policy.diff(before.policy).every(({ effect }) => effect === "narrows")
}
