import { z } from "zod"
import { type AccessGuard, type AccessRequest, GloveboxError } from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { abortable } from "../../internal/abortable.ts"
import {
  type AccessRule,
  type ReadAccessRule,
  type RuleFit,
  accessRuleSchema,
  fitRule,
} from "./access-rule.ts"
import { type AccessDenial, describeDenial } from "./describe-denial.ts"

type OnDenial = (denial: AccessDenial) => void | Promise<void>

export interface ToolAccessOptions {
  /** What agents may use. With none at all everything is allowed; with any, only what one of them allows. */
  readonly rules: readonly AccessRule[]
  /** Awaited before the call is refused, to record it; it is refused also if this throws. */
  readonly onDenial?: OnDenial | undefined
}

const optionsSchema = z.strictObject({
  rules: z.array(accessRuleSchema),
  onDenial: z.custom<OnDenial>((value) => typeof value === "function", "is no function").optional(),
})

/**
 * Which agents may use which tools and executors, with which policy.
 *
 * @example
 * const access = new ToolAccess({ rules: [{ agents: "coder", executors: "docker", policy: "deny-all" }] })
 * const runtime = new SingleThreadedAgentRuntime({ access })
 */
export class ToolAccess implements AccessGuard {
  readonly #rules: readonly ReadAccessRule[]
  readonly #onDenial: OnDenial | undefined

  constructor(options: ToolAccessOptions) {
    const { rules, onDenial } = readOptions("ToolAccess", optionsSchema, options)
    this.#rules = rules
    this.#onDenial = onDenial
  }

  allows(request: AccessRequest): boolean {
    return this.#rules.length === 0 || this.#fits(request).some(isLeave)
  }

  async authorize(
    request: AccessRequest,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    signal?.throwIfAborted()
    if (this.allows(request)) return
    const denial = Object.freeze(describeDenial(request, this.#fits(request)))
    const failure = await this.#tell(denial, signal)
    throw new GloveboxError("ACCESS_DENIED", denial.message, failure)
  }

  #fits(request: AccessRequest): readonly RuleFit[] {
    return this.#rules.map((rule) => fitRule(rule, request))
  }

  /** What went wrong with telling of it, for the error. */
  async #tell(denial: AccessDenial, signal: AbortSignal | undefined): Promise<ErrorOptions | undefined> {
    try {
      await abortable(Promise.resolve(this.#onDenial?.(denial)), signal)
      return undefined
    } catch (cause) {
      signal?.throwIfAborted()
      return { cause }
    }
  }
}

function isLeave({ agent, name, wider }: RuleFit): boolean {
  return agent && name && wider.length === 0
}
