import { createHash } from "node:crypto"
import { canonicalJson } from "../internal/canonical-json.ts"
import { deepFreeze } from "../internal/deep-freeze.ts"
import { GloveboxError } from "../core/index.ts"
import { checkInterception } from "./check-secrets.ts"
import { describePolicyIssues } from "./policy-issues.ts"
import type { PolicyChange } from "./policy-change.ts"
import { comparePolicies } from "./policy-diff.ts"
import { type PolicyFields, type PolicyInput, policySchema } from "./policy-schema.ts"

/**
 * What a sandbox may do, checked and complete. The zero value, `new SandboxPolicy()`, denies all:
 * no network, a read-only root, no capabilities, an unprivileged user, and a bound on everything.
 *
 * @example
 * const policy = new SandboxPolicy({ limits: { memory: "1GiB", wall: "2m" } })
 * policy.widenings() // limits.wall from 1m to 2m, limits.memory from 512MiB to 1GiB
 */
export class SandboxPolicy {
  readonly fields: Readonly<PolicyFields>
  /** The same for every way of writing the same policy. */
  readonly sha256: string

  constructor(input: PolicyInput = {}) {
    refusePrototype(input)
    const result = policySchema.safeParse(input)
    if (!result.success) {
      throw new GloveboxError(
        "POLICY_INVALID",
        `The policy is not valid: ${describePolicyIssues(result.error.issues)}`,
      )
    }
    checkInterception(result.data)
    this.fields = deepFreeze(result.data)
    this.sha256 = createHash("sha256").update(canonicalJson(this.fields)).digest("hex")
    Object.freeze(this)
  }

  /** Everything in which this policy is wider than deny-all. */
  widenings(): readonly PolicyChange[] {
    return this.diff(DENY_ALL).filter(({ effect }) => effect === "widens")
  }

  /** What changes from `before` to this policy, and whether each change widens it. */
  diff(before: SandboxPolicy): readonly PolicyChange[] {
    return comparePolicies(before.fields, this.fields)
  }

  toJSON(): PolicyFields {
    return structuredClone(this.fields)
  }
}

const DENY_ALL = new SandboxPolicy()

// It would vanish without a word.
function refusePrototype(input: PolicyInput): void {
  for (const field of ["env", "secrets"] as const) {
    const given: unknown = (input as PolicyInput | null)?.[field]
    if (typeof given !== "object" || given === null || !Object.hasOwn(given, "__proto__")) continue
    throw new GloveboxError(
      "POLICY_INVALID",
      `The policy is not valid: ${field}.__proto__: is not the name of a variable`,
    )
  }
}
