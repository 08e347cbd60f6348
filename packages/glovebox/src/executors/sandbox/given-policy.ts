import { GloveboxError } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"
import { isPlainObject } from "../../internal/plain-object.ts"
import { type PolicyInput, SandboxPolicy } from "../../policy/index.ts"

/** Options that stand for fields of the policy. */
export interface PolicyShorthands {
  readonly policy?: SandboxPolicy | PolicyInput | undefined
  /** How long a block may run, as "60s" or in milliseconds. */
  readonly timeout?: string | number | undefined
  readonly memory?: string | number | undefined
  readonly cpus?: number | undefined
  readonly pids?: number | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
}

/** The fields of the policy that was given, whichever way it was. */
export function givenPolicy(policy: unknown): PolicyInput {
  const given = policy instanceof SandboxPolicy ? policy.toJSON() : (policy ?? {})
  if (typeof given === "object" && isPlainObject(given)) return given
  throw new GloveboxError(
    "OPTION_INVALID",
    `The policy is ${describe(policy)}. Pass a SandboxPolicy, an object with its fields, or what loadPolicy(file) gives.`,
  )
}

/** The policy with the shorthands in the place of its own fields. */
export function policyOf(options: PolicyShorthands, fields: PolicyInput = {}): SandboxPolicy {
  const given = givenPolicy(options.policy)
  const { timeout: wall, memory, cpus, pids } = options
  return new SandboxPolicy({
    ...given,
    ...defined(fields),
    limits: { ...given.limits, ...defined({ wall, memory, cpus, pids }) },
    env: { ...given.env, ...options.env },
  })
}

function defined<T extends object>(fields: T): { [Key in keyof T]: NonNullable<T[Key]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]: NonNullable<T[Key]>
  }
}
