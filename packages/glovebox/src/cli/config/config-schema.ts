import { z } from "zod"
import { nearest } from "../../internal/nearest.ts"
import { APPROVALS } from "../approval/approval-choice.ts"
import { JOB_SANDBOXES } from "../run/job-sandboxes.ts"
import { ENVIRONMENT_NAME } from "./environment-name.ts"
import {
  accessSchema,
  approvalSchema,
  auditSchema,
  filterSchema,
  redactionSchema,
} from "./governance-schema.ts"

export const PROVIDERS = ["openai", "anthropic", "ollama"] as const
export type Provider = (typeof PROVIDERS)[number]

// What decides where the task and the key go is in one place, where it is checked. Of `base_u_r_l` a client makes baseURL.
const RESERVED = new Set("model name provider baseurl host organization project apikey headers".split(" "))

function isReserved(name: string): boolean {
  return RESERVED.has(name.replaceAll("_", "").toLowerCase())
}

const modelSchema = z.strictObject({
  provider: z.enum(PROVIDERS, `must be one of ${PROVIDERS.join(", ")}`),
  name: z.string().min(1, "is empty"),
  base_url: z.string().min(1, "is empty").optional(),
  /** The variable that holds the key; the key itself is never in the file. */
  api_key_env: z.string().regex(ENVIRONMENT_NAME, "is not the name of an environment variable").optional(),
  /** Options of the model's client, as `temperature: 0`. */
  options: z
    .record(
      z.string().refine((name) => !isReserved(name), "belongs beside options, not in them"),
      z.json(),
    )
    .default({}),
})

export const configSchema = z.strictObject({
  model: z.union([z.string().min(1, "is empty"), modelSchema]).optional(),
  sandbox: z.enum(JOB_SANDBOXES, `must be one of ${JOB_SANDBOXES.join(", ")}`).optional(),
  /** A file, or the policy itself. */
  policy: z.union([z.string().min(1, "is empty"), z.record(z.string(), z.json())]).optional(),
  approve: z.enum(APPROVALS, `must be one of ${APPROVALS.join(", ")}`).optional(),
  max_turns: z
    .int("must be a whole number")
    .min(1, "must be from 1 to 100")
    .max(100, "must be from 1 to 100")
    .optional(),
  system_message: z.string().optional(),
  /** False for no log. */
  audit: z.union([z.literal(false), auditSchema]).optional(),
  approval: approvalSchema.optional(),
  access: accessSchema.optional(),
  redaction: redactionSchema.optional(),
  filter: filterSchema.optional(),
})

// Of the parts that have names of their own.
const PARTS: Readonly<Record<string, z.ZodObject>> = {
  model: modelSchema,
  audit: auditSchema,
  approval: approvalSchema,
  access: accessSchema,
  redaction: redactionSchema,
  filter: filterSchema,
}

export type ConfigFields = z.output<typeof configSchema>
export type ConfigModel = z.output<typeof modelSchema>

export interface ConfigIssue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** What is wrong with a configuration, with the name that was probably meant for each unknown one. */
export function configIssues(issues: readonly z.core.$ZodIssue[]): readonly ConfigIssue[] {
  return issues.flatMap((issue): readonly ConfigIssue[] => {
    if (issue.code === "invalid_union") return configIssues(asObject(issue))
    if (issue.code === "invalid_key") {
      return [{ path: issue.path, message: issue.issues[0]?.message ?? issue.message }]
    }
    if (issue.code !== "unrecognized_keys") return [{ path: issue.path, message: issue.message }]
    const known = knownAt(issue.path)
    return issue.keys.map((key) => {
      const meant = nearest(
        key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        known,
      )
      const guess = meant === undefined ? "" : `; did you mean "${meant}"?`
      return {
        path: [...issue.path, key],
        message: `is not known${guess}${known.length === 0 ? "." : ` Known here: ${known.join(", ")}.`}`,
      }
    })
  })
}

// Of what is deeper inside, the schema's own words must do.
function knownAt(path: readonly PropertyKey[]): readonly string[] {
  const [first] = path
  if (first === undefined) return Object.keys(configSchema.shape)
  return path.length === 1 ? Object.keys(PARTS[String(first)]?.shape ?? {}) : []
}

// Both a text and an object would do; whoever wrote no text meant the object.
function asObject({ path, errors }: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] {
  const branch = errors.at(-1) ?? []
  return branch.map((issue) => ({ ...issue, path: [...path, ...issue.path] }))
}
