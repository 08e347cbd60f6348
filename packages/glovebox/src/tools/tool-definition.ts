import { z } from "zod"
import { GloveboxError, type JsonValue } from "../core/index.ts"
import { describe } from "../internal/describe.ts"
import { nearest } from "../internal/nearest.ts"
import type { ToolSchema } from "../models/index.ts"
import type { ToolRisk } from "./approval.ts"
import { strictSchema } from "./strict-schema.ts"
import type { ToolGovernor } from "./tool-governor.ts"
import {
  type ReadParameters,
  type ToolArguments,
  type ToolParameters,
  readParameters,
} from "./tool-parameters.ts"

export interface ToolContext {
  /** Aborted when nobody waits for the result any more. */
  readonly signal: AbortSignal
  /** The id that the model gave the call. */
  readonly callId: string | undefined
  /** The rules of whoever calls it: what the tool runs, it runs behind them. Undefined where there are none. */
  readonly governor: ToolGovernor | undefined
}

/** What becomes of an error that a tool throws: something to tell the model, or the end of the run. */
export type ErrorChoice = "result" | "fatal"

export interface ToolOptions<Parameters extends ToolParameters> {
  /** Letters, digits, "_" and "-", at most 64. */
  readonly name: string
  /** What it does and when to use it: the model reads it. */
  readonly description: string
  /** A Standard Schema that gives JSON Schema, such as zod's, or JSON Schema itself. @default no arguments */
  readonly parameters?: Parameters | undefined
  /**
   * Does it. What it returns is the result: text, an image, a list with images, or anything that JSON can hold. An
   * async generator tells what it yields while it runs, and returns the result.
   */
  readonly execute: (args: ToolArguments<Parameters>, context: ToolContext) => unknown
  /** Asks the provider to keep exactly to the schema, in which all fields are then required. @default false */
  readonly strict?: boolean | undefined
  /** Whether a call waits for an approval. @default false */
  readonly approval?: boolean | ((args: ToolArguments<Parameters>) => boolean | Promise<boolean>) | undefined
  /** Told to whoever approves. @default "low" */
  readonly risk?: ToolRisk | undefined
  /** What becomes of errors that `execute` throws. @default "result" */
  readonly errors?: ErrorChoice | ((error: unknown) => ErrorChoice) | undefined
  /** What is to outlive the process, for tools that keep something. */
  readonly state?: ToolState | undefined
}

export interface ToolState {
  save(): JsonValue | Promise<JsonValue>
  load(state: JsonValue): void | Promise<void>
}

/** A tool's options, checked. */
export interface ToolDefinition {
  readonly schema: ToolSchema
  readonly check: ReadParameters["check"]
  readonly execute: (args: unknown, context: ToolContext) => unknown
  readonly needsApproval: (args: unknown) => boolean | Promise<boolean>
  readonly risk: ToolRisk
  readonly errorChoice: (error: unknown) => ErrorChoice
  readonly state: ToolState | undefined
}

const aFunction = z.custom<(...args: never) => unknown>(
  (value) => typeof value === "function",
  "must be a function",
)
const schema = z.strictObject({
  name: z.string(),
  description: z.string().min(1, "is empty: the model has nothing else to choose by"),
  parameters: z.unknown().optional(),
  execute: aFunction,
  strict: z.boolean().default(false),
  approval: z.union([z.boolean(), aFunction]).default(false),
  risk: z.enum(["low", "medium", "high"]).default("low"),
  errors: z.union([z.enum(["result", "fatal"]), aFunction]).default("result"),
  state: z.object({ save: aFunction, load: aFunction }).optional(),
})

export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/

export function readToolOptions<Parameters extends ToolParameters>(
  options: ToolOptions<Parameters>,
): ToolDefinition {
  const { data, error } = schema.safeParse(options)
  if (error) throw invalid(`The tool's options are not valid: ${error.issues.map(describeIssue).join("; ")}.`)
  const { name, description, strict, approval, risk, errors } = data
  checkToolName(name)
  const parameters = readParameters(name, options.parameters)
  return {
    schema: {
      name,
      description,
      parameters: strict ? strictSchema(name, parameters.schema) : parameters.schema,
      strict,
    },
    check: parameters.check,
    execute: options.execute as ToolDefinition["execute"],
    needsApproval:
      typeof approval === "boolean" ? () => approval : (approval as ToolDefinition["needsApproval"]),
    risk,
    errorChoice: typeof errors === "string" ? () => errors : (errors as ToolDefinition["errorChoice"]),
    state: options.state,
  }
}

/** Refuses a name that no model's provider takes. */
export function checkToolName(name: string): void {
  if (TOOL_NAME.test(name)) return
  throw invalid(`${describe(name)} is no name for a tool. Use letters, digits, "_" and "-", at most 64.`)
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code !== "unrecognized_keys") return `${issue.path.map(String).join(".")}: ${issue.message}`
  return issue.keys
    .map((key) => {
      const meant = nearest(key, Object.keys(schema.shape))
      return `${key} is not an option${meant === undefined ? "" : `; did you mean ${meant}?`}`
    })
    .join("; ")
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("TOOL_INVALID", message)
}
