import type { SandboxPolicy } from "../../policy/index.ts"
import type { AuditData } from "../audit/record-kinds.ts"

const NOT_RECORDED = "(not recorded)"

/** What is recorded of a policy: all of it but the values of variables, which may be anything. */
export function policyData(policy: SandboxPolicy, source: string): AuditData<"policy-load"> {
  const { env, ...fields } = policy.toJSON()
  const names = Object.fromEntries(Object.keys(env).map((name) => [name, NOT_RECORDED]))
  return {
    sha256: policy.sha256,
    source,
    widenings: policy.widenings().map(({ path, from, to }) => `${path}: ${from} -> ${to}`),
    policy: { ...fields, env: names },
  }
}
