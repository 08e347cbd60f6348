import { z } from "zod"
import { GloveboxError, type AccessRequest } from "../../core/index.ts"
import { isLike } from "../../internal/is-like.ts"
import { isPlainObject } from "../../internal/plain-object.ts"
import { type PolicyInput, SandboxPolicy } from "../../policy/index.ts"

type OneOrMore = string | readonly string[]

/** What some agents may use. Names may have `*` for any characters. */
export interface AccessRule {
  /** Names of chat agents, and types of a runtime's agents. */
  readonly agents: OneOrMore
  readonly tools?: OneOrMore | undefined
  /** Kinds: docker, jupyter, bubblewrap, wasm, local. */
  readonly executors?: OneOrMore | undefined
  /** What those executors may do at most: a policy, "deny-all", or the SHA-256 of the only one. @default whatever theirs lets them */
  readonly policy?: string | PolicyInput | SandboxPolicy | undefined
}

/** A rule with its defaults. */
export interface ReadAccessRule {
  readonly agents: readonly string[]
  readonly tool: readonly string[]
  readonly executor: readonly string[]
  readonly policy: SandboxPolicy | string | undefined
}

const SHA256 = /^[0-9a-f]{64}$/
const names = z
  .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
  .transform((value) => [value].flat())

const policySchema = z.unknown().transform((given, context): SandboxPolicy | string => {
  if (given instanceof SandboxPolicy) return given
  if (given === "deny-all") return new SandboxPolicy()
  if (typeof given === "string" && SHA256.test(given)) return given
  try {
    if (typeof given === "object" && given !== null && isPlainObject(given)) return new SandboxPolicy(given)
    context.addIssue({ code: "custom", message: 'is no policy: pass its fields, "deny-all", or its SHA-256' })
  } catch (error) {
    if (!GloveboxError.is(error)) throw error
    context.addIssue({ code: "custom", message: error.message })
  }
  return z.NEVER
})

export const accessRuleSchema = z
  .strictObject({
    agents: names,
    tools: names.optional(),
    executors: names.optional(),
    policy: policySchema.optional(),
  })
  .refine(({ tools, executors }) => tools ?? executors, "allows nothing: name tools or executors")
  .refine(
    ({ policy, executors }) => policy === undefined || executors,
    "has a policy, which is about executors, and names none",
  )
  .transform(({ agents, tools = [], executors = [], policy }): ReadAccessRule => ({
    agents,
    tool: tools,
    executor: executors,
    policy,
  }))

/** How far a rule goes with a request: all the way is leave. */
export type RuleFit = { readonly agent: boolean; readonly name: boolean; readonly wider: readonly string[] }

export function fitRule(rule: ReadAccessRule, request: AccessRequest): RuleFit {
  return {
    agent: rule.agents.some((pattern) => isLike(pattern, request.agent)),
    name: rule[request.kind].some((pattern) => isLike(pattern, request.name)),
    wider: request.kind === "executor" && rule.policy !== undefined ? widerThan(rule.policy, request) : [],
  }
}

/** In what an executor goes beyond a policy; nothing for one that keeps within it. */
function widerThan(
  allowed: SandboxPolicy | string,
  { name, policy, beyondPolicy = [] }: AccessRequest,
): readonly string[] {
  // What stands in the policy of this one is not held by anything.
  if (name === "local") return ["host"]
  if (beyondPolicy.length > 0) return beyondPolicy.map(({ path }) => path)
  if (!(policy instanceof SandboxPolicy)) return ["its policy is not known"]
  if (typeof allowed === "string") return policy.sha256 === allowed ? [] : ["it is another"]
  const wider = policy.diff(allowed).filter(({ effect }) => effect === "widens")
  return [...new Set(wider.map(({ path }) => path))]
}
