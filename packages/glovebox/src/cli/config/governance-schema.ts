import { z } from "zod"
import { rulesSchema } from "../../governance/approval/approval-rules.ts"
import { ENVIRONMENT_NAME } from "./environment-name.ts"

const KIND = /^[\w.-]{1,64}$/
const name = z.string().regex(KIND, "must have 1 to 64 letters, digits, dots, underscores or hyphens")
const pattern = z.string().min(1, "is empty").refine(isPattern, "is no regular expression")
const action = z.enum(["flag", "strip", "block"], "must be one of flag, strip, block")
const oneOrMore = z.union([z.string().min(1, "is empty"), z.array(z.string().min(1, "is empty")).min(1)])

export const auditSchema = z.strictObject({
  /** From the folder of the configuration. */
  path: z.string().min(1, "is empty").optional(),
  /** Keeps code, output and messages, not only their hashes. */
  content: z.boolean("must be true or false").optional(),
  /** Whether what cannot be recorded does not happen. */
  required: z.boolean("must be true or false").optional(),
})

export const approvalSchema = z.strictObject({ rules: rulesSchema })

export const accessSchema = z.strictObject({
  rules: z.array(
    z.strictObject({
      agents: oneOrMore,
      tools: oneOrMore.optional(),
      executors: oneOrMore.optional(),
      /** "deny-all", a SHA-256, or the policy itself. */
      policy: z.union([z.string(), z.record(z.string(), z.json())]).optional(),
    }),
  ),
})

export const redactionSchema = z.strictObject({
  /** Variables whose values are secrets, whatever their names are. */
  values_from_env: z
    .array(z.string().regex(ENVIRONMENT_NAME, "is not the name of an environment variable"))
    .optional(),
  patterns: z.array(z.strictObject({ name, pattern })).optional(),
})

export const filterSchema = z.strictObject({
  /** By the name of a rule, or by a kind. */
  actions: z.record(z.string(), action).optional(),
  extend: z
    .array(
      z.strictObject({
        name,
        kind: z.enum(["host-path", "credential", "network", "custom"]).optional(),
        pattern,
        action: action.optional(),
      }),
    )
    .optional(),
})

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "u").source !== ""
  } catch {
    return false
  }
}
