import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import { formatIssues } from "../../internal/format-issues.ts"
import type { Approve, ErrorChoice, ToolOverrides, ToolRisk } from "../index.ts"
import { type McpServerParams, type ReadServerParams, serverParamsSchema } from "./mcp-server-params.ts"
import type { ToolPins } from "./tool-pins.ts"

/** A call as the rule for approvals sees it. */
export interface McpCall {
  /** The server's own name for the tool. */
  readonly tool: string
  readonly arguments: unknown
}

export interface McpWorkbenchOptions {
  readonly server: McpServerParams
  /** By the server's own names: what models see instead. @default {} */
  readonly overrides?: ToolOverrides | undefined
  /** The server's tools as they were looked at, from `pins()`: others are not offered, and changed ones are an error. */
  readonly pins?: ToolPins | undefined
  /** How long a call may go without an answer or a sign of progress. @default 60000 */
  readonly timeoutMs?: number | undefined
  /** How long a call may take in all, whatever progress it shows. @default 1800000 */
  readonly totalTimeoutMs?: number | undefined
  /** How long the server may take to start. @default 30000 */
  readonly startTimeoutMs?: number | undefined
  /** What becomes of a failed call, also when the server has ended. @default "result" */
  readonly errors?: ErrorChoice | ((error: unknown) => ErrorChoice) | undefined
  /** Whether a call waits for an approval. @default false */
  readonly approval?: boolean | ((call: McpCall) => boolean | Promise<boolean>) | undefined
  /** Told to whoever approves. @default "medium" */
  readonly risk?: ToolRisk | undefined
  readonly approve?: Approve | undefined
}

export interface ReadMcpOptions {
  readonly server: ReadServerParams
  readonly overrides: ToolOverrides
  readonly pins: ToolPins | undefined
  readonly timeoutMs: number
  readonly totalTimeoutMs: number
  readonly startTimeoutMs: number
  readonly errorChoice: (error: unknown) => ErrorChoice
  readonly needsApproval: (call: McpCall) => boolean | Promise<boolean>
  readonly risk: ToolRisk
  readonly approve: Approve | undefined
  readonly given: McpWorkbenchOptions
}

const aFunction = z.custom<never>((value) => typeof value === "function", "must be a function")
const ms = z
  .int()
  .min(1)
  .max(2 ** 31 - 1)
const schema = z.strictObject({
  server: serverParamsSchema,
  overrides: z
    .record(z.string(), z.strictObject({ name: z.string().optional(), description: z.string().optional() }))
    .default({}),
  pins: z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/, "is no SHA-256")).optional(),
  timeoutMs: ms.default(60_000),
  totalTimeoutMs: ms.default(30 * 60_000),
  startTimeoutMs: ms.default(30_000),
  errors: z.union([z.enum(["result", "fatal"]), aFunction]).default("result"),
  approval: z.union([z.boolean(), aFunction]).default(false),
  risk: z.enum(["low", "medium", "high"]).default("medium"),
  approve: aFunction.optional(),
})

export function readMcpOptions(options: McpWorkbenchOptions): ReadMcpOptions {
  const { data, error } = schema.safeParse(options)
  if (error) {
    throw new GloveboxError(
      "OPTION_INVALID",
      `The MCP workbench's options are not valid: ${formatIssues(error.issues)}.`,
    )
  }
  const { errors = "result", approval = false } = options
  const { server, overrides, pins, timeoutMs, totalTimeoutMs, startTimeoutMs, risk } = data
  return {
    server,
    overrides,
    pins,
    timeoutMs,
    totalTimeoutMs,
    startTimeoutMs,
    risk,
    approve: options.approve,
    given: options,
    errorChoice: typeof errors === "string" ? () => errors : errors,
    needsApproval: typeof approval === "boolean" ? () => approval : approval,
  }
}
