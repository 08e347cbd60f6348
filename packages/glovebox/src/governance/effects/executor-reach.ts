import type { CodeExecutor } from "../../executors/index.ts"
import { type PolicyChange, SandboxPolicy } from "../../policy/index.ts"

const HOST: readonly PolicyChange[] = [
  { path: "host", from: "absent", to: "everything this process's user may", effect: "widens" },
]

/** What code in an executor can reach, as far as it tells: without a policy nobody knows. */
export function reachOf(executor: CodeExecutor): {
  readonly policy: SandboxPolicy | undefined
  readonly beyondPolicy: readonly PolicyChange[]
} {
  const { policy, beyondPolicy } = executor as {
    readonly policy?: unknown
    readonly beyondPolicy?: readonly PolicyChange[] | undefined
  }
  return {
    policy: policy instanceof SandboxPolicy ? policy : undefined,
    // Where there is no wall, a policy that nobody holds says nothing.
    beyondPolicy: beyondPolicy ?? (executor.runsOnHost === true ? HOST : []),
  }
}
