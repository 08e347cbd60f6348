import { z } from "zod"
import { broken } from "./agent-frames.ts"

const count = z.int().min(0)
const amount = z.number().nullable()

/** What the framed agent says, field by field: all of it could have been said by the code. */
const answers = {
  R: z.object({
    version: z.literal(1),
    python: z.string().max(64),
    uid: z.int(),
    gid: z.int(),
    status: z.record(z.string().max(64), z.string().max(256).nullable()),
    programs: z.record(z.string().max(256), z.string().max(4096).nullable()),
    interfaces: z.array(z.string().max(64)).nullable(),
    root: z.object({ readOnly: z.boolean().nullable() }),
    workspace: z.object({ bytes: amount, files: amount }),
    cgroup: z.object({
      version: z.number().nullable(),
      memory: amount,
      swap: amount,
      pids: amount,
      cpus: amount,
    }),
    ready: z.boolean(),
    tunnel: z.int().optional(),
    kernel: z.object({ number: count, trouble: z.string().max(65_536).nullable() }).optional(),
  }),
  x: z.object({
    id: z.int(),
    code: z.int().min(0).max(255).nullable(),
    signal: z.int().min(1).max(64).nullable(),
    limits: z.array(z.enum(["memory", "pids", "workspace"])).max(3),
    kernel: z
      .object({ number: count, alive: z.boolean(), lastOutput: count.max(999_999_999).optional() })
      .optional(),
  }),
  f: z.object({ path: z.string().max(65_536), size: count, mode: z.int().min(0).max(0o7777) }),
  v: z.object({ path: z.string().max(65_536) }),
  m: z.object({
    kind: z.enum(["display_data", "execute_result", "update_display_data", "clear_output"]),
    size: count,
    dropped: z.boolean(),
  }),
  c: z.object({ files: count, bytes: count, skipped: count, over: z.boolean() }),
  "!": z.object({
    op: z.string().max(8),
    message: z.string().max(8192),
    path: z.string().max(8192).optional(),
    program: z.string().max(4096).optional(),
    id: z.int().optional(),
  }),
}

type Answers = typeof answers
export type AnswerType = keyof Answers
export type Answer<Type extends AnswerType> = z.output<Answers[Type]>
export type Facts = Answer<"R">

/** Reads the JSON of an answer, or throws SANDBOX_BROKEN. */
export function readAnswer<Type extends AnswerType>(type: Type, payload: Buffer): Answer<Type> {
  let value: unknown
  try {
    value = JSON.parse(payload.toString("utf8"))
  } catch (cause) {
    throw broken(`a frame "${type}" that is not JSON`, cause)
  }
  const result = answers[type].safeParse(value)
  if (!result.success) throw broken(`a frame "${type}" with wrong fields`, result.error)
  return result.data as Answer<Type>
}
