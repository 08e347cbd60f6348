import { z } from "zod"
import type { JsonObject } from "../../core/json.ts"
import { readOptions } from "../../core/read-options.ts"
import { type AuditKey, Signer } from "./signature.ts"
import { MAX_LINE_BYTES } from "./record-line.ts"

export interface AuditLogOptions {
  /** The file that is written; rotated files, the head and the lock are beside it. */
  readonly path: string
  /** The run that records belong to which name none. */
  readonly run?: string | undefined
  /** `group`: appends at the same time share one write and one fsync. `record`: each has its own. @default "group" */
  readonly sync?: "group" | "record" | undefined
  /** From this size on, the next records go into a new file. @default 64 MiB */
  readonly maxFileBytes?: number | undefined
  /** A larger record is refused. @default 4 MiB */
  readonly maxRecordBytes?: number | undefined
  /** How long to wait while another process writes the log; 0 refuses. @default 0 */
  readonly waitForLockMs?: number | undefined
  /** A private Ed25519 key, which signs checkpoints and the head. */
  readonly signingKey?: AuditKey | undefined
  /** After so many records there is a checkpoint. @default 1000 */
  readonly checkpointEvery?: number | undefined
  /** Takes secrets out of the data of a record, before anything is written. */
  readonly redact?: ((data: JsonObject) => JsonObject) | undefined
  /** The wall clock, in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
}

const MEBIBYTE = 1024 * 1024
const isFunction = (value: unknown): boolean => typeof value === "function"

const schema = z.strictObject({
  path: z.string().min(1),
  run: z.string().optional(),
  sync: z.enum(["group", "record"]).default("group"),
  maxFileBytes: z
    .number()
    .int()
    .min(1)
    .default(64 * MEBIBYTE),
  maxRecordBytes: z
    .number()
    .int()
    .min(1024)
    .max(MAX_LINE_BYTES)
    .default(4 * MEBIBYTE),
  waitForLockMs: z.number().min(0).default(0),
  signingKey: z.custom<AuditKey>().optional(),
  checkpointEvery: z.number().int().min(2).default(1000),
  redact: z.custom<NonNullable<AuditLogOptions["redact"]>>(isFunction, "must be a function").optional(),
  now: z.custom<() => number>(isFunction, "must be a function").default(() => Date.now),
})

export type AuditLogSettings = Omit<z.infer<typeof schema>, "signingKey"> & { signer: Signer | undefined }

export function readAuditLogOptions(options: AuditLogOptions): AuditLogSettings {
  const { signingKey, ...settings } = readOptions("AuditLog", schema, options)
  return { ...settings, signer: signingKey === undefined ? undefined : new Signer(signingKey) }
}
