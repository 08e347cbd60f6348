import { z } from "zod"
import type { JsonValue } from "../../core/index.ts"
import type { EgressConnection } from "../../egress/index.ts"
import type { Artifact, BlockResult, CodeResult, SandboxReport } from "../code-result.ts"
import { isWorkspacePath } from "../workspace-path.ts"

// All that a far end tells is read through these: what is not named here does not come in.

/** One for each field, so that none is left behind. */
type Fields<Type> = Record<keyof Type, z.ZodType>

const count = z.int().min(0)
const amount = z.number().min(0)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

const shown = { display: count, displayId: z.string().optional(), artifact: z.string().optional() }
const text = <Type extends string, Mime extends string>(
  type: Type,
  mime: Mime,
): z.ZodObject<{ type: z.ZodLiteral<Type>; mime: z.ZodLiteral<Mime>; data: z.ZodString } & typeof shown> =>
  z.object({ ...shown, type: z.literal(type), mime: z.literal(mime), data: z.string() })
const json = z.custom<JsonValue>((value) => value !== undefined)

/** Of what is bytes, its place among the frame's blobs. */
const richSchema = z.discriminatedUnion("type", [
  text("text", "text/plain"),
  text("markdown", "text/markdown"),
  text("latex", "text/latex"),
  text("html", "text/html"),
  text("svg", "image/svg+xml"),
  z.object({ ...shown, type: z.literal("png"), mime: z.literal("image/png"), data: count }),
  z.object({ ...shown, type: z.literal("jpeg"), mime: z.literal("image/jpeg"), data: count }),
  z.object({ ...shown, type: z.literal("gif"), mime: z.literal("image/gif"), data: count }),
  z.object({ ...shown, type: z.literal("json"), mime: z.string(), data: json }),
  z.object({ ...shown, type: z.literal("other"), mime: z.string(), data: json }),
])
export type WrittenRich = z.output<typeof richSchema>

const termination = z.enum(["exit", "signal", "timeout", "oom", "process-limit", "disk-full", "output-limit"])

const blockSchema = z.object({
  language: z.string(),
  codeFile: z.string(),
  exitCode: z.int(),
  signal: z.string().optional(),
  termination,
  limitsHit: z.array(z.enum(["wall", "memory", "pids", "workspace", "output"])),
  output: z.string(),
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.boolean(),
  durationMs: amount,
  outputs: z.array(richSchema).optional(),
} satisfies Fields<BlockResult>)

const connectionSchema = z.object({
  id: count,
  via: z.enum(["connect", "http", "socks5", "unknown"]),
  host: z.string(),
  port: count,
  verdict: z.enum(["allowed", "denied"]),
  rule: z.string().optional(),
  address: z.string().optional(),
  intercepted: z.boolean().optional(),
  secrets: z.array(z.object({ name: z.string(), host: z.string() })).optional(),
  secretsWithheld: z.array(z.string()).optional(),
  method: z.string().optional(),
  path: z.string().optional(),
  denial: z
    .object({
      code: z.enum([
        "BAD_REQUEST",
        "BAD_HOST",
        "NOT_ALLOWED",
        "PORT",
        "PRIVATE_ADDRESS",
        "NAME_NOT_FOUND",
        "CONNECT_FAILED",
        "METHOD",
        "PATH",
        "TLS_NO_SNI",
        "TLS_WRONG_NAME",
        "TLS_HIDDEN",
        "TLS_UNTRUSTED",
        "PROTOCOL",
        "HOST_MISMATCH",
        "SMUGGLING",
        "SECRET_HIDDEN",
        "BUDGET",
        "TOO_MANY_CONNECTIONS",
        "IDLE",
        "HEADER_TIMEOUT",
        "HEADER_TOO_LARGE",
        "UNSUPPORTED",
        "POLICY_TIGHTENED",
      ]),
      rule: z.string().optional(),
      resource: z.string(),
      message: z.string(),
      suggestion: z.string(),
    })
    .optional(),
  bytesUp: amount,
  bytesDown: amount,
  durationMs: amount,
  ended: z.enum(["client", "server", "budget", "idle", "policy", "closed", "error"]).optional(),
} satisfies Fields<EgressConnection>)

const sandboxSchema = z.object({
  kind: z.string(),
  policySha256: sha256,
  isolation: z.enum(["run", "session"]),
  image: z.string().optional(),
  imageDigest: z.string().optional(),
  runtime: z.string().optional(),
  containerId: z.string().optional(),
  engine: z.string().optional(),
  pooled: z.boolean().optional(),
  effective: z.record(z.string(), z.unknown()),
} satisfies Fields<SandboxReport>)

const artifactSchema = z.object({
  path: z.string().refine(isWorkspacePath, "is no path below the workspace"),
  size: count,
  sha256,
  executable: z.boolean(),
} satisfies Omit<Fields<Artifact>, "content">)

const resultSchema = z.object({
  exitCode: z.int(),
  output: z.string(),
  stdout: z.string(),
  stderr: z.string(),
  termination,
  truncated: z.boolean(),
  durationMs: amount,
  blocks: z.array(blockSchema),
  /** Their places among the files that came before. */
  artifacts: z.array(count),
  artifactsTruncated: z.boolean(),
  codeFile: z.string(),
  outputs: z.array(richSchema).optional(),
  stateLost: z.boolean().optional(),
  stateLostBecause: z.string().optional(),
  egress: z.array(connectionSchema).optional(),
  egressTruncated: z.boolean().optional(),
  sandbox: sandboxSchema,
} satisfies Fields<CodeResult>)

/** Everything that a frame of a run can be. */
export const eventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("started"), blocks: count }),
  z.object({ type: z.literal("block-started"), block: count, language: z.string(), codeFile: z.string() }),
  z.object({ type: z.literal("stdout"), block: count, text: z.string().optional() }),
  z.object({ type: z.literal("stderr"), block: count, text: z.string().optional() }),
  z.object({
    type: z.literal("display"),
    block: count,
    action: z.enum(["show", "update", "clear"]),
    outputs: z.array(richSchema),
  }),
  z.object({
    type: z.literal("egress"),
    state: z.enum(["denied", "opened", "closed"]),
    connection: connectionSchema,
  }),
  z.object({ type: z.literal("block-finished"), block: count, result: blockSchema }),
  z.object({ type: z.literal("artifact"), artifact: artifactSchema }),
  z.object({ type: z.literal("file"), artifact: artifactSchema }),
  z.object({ type: z.literal("finished"), result: resultSchema }),
])
export type WrittenEvent = z.output<typeof eventSchema>
