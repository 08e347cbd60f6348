import { type PolicyChange, SandboxPolicy } from "../../policy/index.ts"
import type { CodeExecutor } from "../code-executor.ts"

/** What clients are told of the executor that runs their code. */
export interface ToldDescription {
  readonly kind: string
  readonly runsOnHost: boolean
  readonly policy: string
  readonly policySha256?: string | undefined
  readonly beyondPolicy: PolicyChange[]
  readonly functions: string
}

/** What an executor tells of itself, where it does. */
export function describeExecutor(executor: CodeExecutor): ToldDescription {
  const told = executor as Partial<{
    readonly kind: unknown
    readonly policy: unknown
    readonly beyondPolicy: readonly PolicyChange[]
    readonly describeFunctions: () => string
  }>
  const policy = told.policy instanceof SandboxPolicy ? told.policy : undefined
  return {
    kind: typeof told.kind === "string" ? told.kind : "unknown",
    runsOnHost: executor.runsOnHost === true,
    policy: policy ? JSON.stringify(policy) : "",
    ...(policy && { policySha256: policy.sha256 }),
    beyondPolicy: (told.beyondPolicy ?? []).map(({ path, from, to, effect }) => ({ path, from, to, effect })),
    functions: typeof told.describeFunctions === "function" ? told.describeFunctions.call(executor) : "",
  }
}
