import { z } from "zod"
import { GloveboxError } from "../../core/glovebox-error.ts"
import { readOptions } from "../../core/read-options.ts"
import { followLines } from "./follow-lines.ts"
import { openFiles } from "./open-files.ts"
import { type AuditLine, readLines } from "./read-lines.ts"
import { type AuditRecord, readRecord } from "./record-line.ts"

type Time = Date | string | number

export interface ReadAuditLogOptions {
  /** Only of these kinds. */
  readonly kind?: string | readonly string[] | undefined
  readonly run?: string | undefined
  readonly agent?: string | undefined
  /** Not before; by the wall clock, as the records have it. */
  readonly from?: Time | undefined
  /** Not after. */
  readonly to?: Time | undefined
  /** Only records with this text anywhere in them, in small or capital letters. */
  readonly text?: string | undefined
  /** Only those for which this is true. */
  readonly where?: ((record: AuditRecord) => boolean) | undefined
  /** Only so many, the last of those that fit. */
  readonly last?: number | undefined
  /** Goes on with what is written from now on, until aborted; only by the path of a log. @default false */
  readonly follow?: boolean | undefined
  /** Told of a line that is no record, which is then passed over. @default throws AUDIT_LOG_BROKEN */
  readonly onDamage?: ((damage: { file: string; line: number }) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

const time = z
  .union([z.date(), z.string(), z.number()])
  .transform((value) => new Date(value).getTime())
  .refine(Number.isFinite, "must be a time")
const isFunction = (value: unknown): boolean => typeof value === "function"
const schema = z.strictObject({
  kind: z.union([z.string(), z.array(z.string())]).optional(),
  run: z.string().optional(),
  agent: z.string().optional(),
  from: time.optional(),
  to: time.optional(),
  text: z.string().optional(),
  where: z.custom<NonNullable<ReadAuditLogOptions["where"]>>(isFunction, "must be a function").optional(),
  last: z.number().int().min(0).optional(),
  follow: z.boolean().default(false),
  onDamage: z
    .custom<NonNullable<ReadAuditLogOptions["onDamage"]>>(isFunction, "must be a function")
    .optional(),
  signal: z.instanceof(AbortSignal).optional(),
})

type Settings = z.infer<typeof schema>

/** A record, and the line it was read from. */
export interface RecordLine {
  readonly record: AuditRecord
  /** As they are in the file; they hold until the next. */
  readonly bytes: Buffer
}

/** The records of a log, oldest first. It reads, and does not check the chain: that is `verifyAuditLog`. */
export async function* readAuditLog(
  log: string | readonly string[],
  options: ReadAuditLogOptions = {},
): AsyncGenerator<AuditRecord, void> {
  for await (const { record } of readRecordLines(log, options)) yield record
}

/** The same, with the lines. */
export async function* readRecordLines(
  log: string | readonly string[],
  options: ReadAuditLogOptions = {},
): AsyncGenerator<RecordLine, void> {
  const settings = readOptions("readAuditLog", schema, options)
  const { follow, last, signal } = settings
  if (follow && typeof log !== "string") {
    throw new GloveboxError("OPTION_INVALID", "readAuditLog follows a log by its path, not by its files.")
  }
  const matches = matcher(settings)
  const kept: RecordLine[] = []
  let isCaughtUp = last === undefined
  for await (const line of follow && typeof log === "string"
    ? followLines(log, signal)
    : linesOf(log, signal)) {
    if (line === "caught-up") {
      isCaughtUp = true
      yield* kept.splice(0)
      continue
    }
    const { bytes } = line
    const record = readRecord(bytes)
    if (!record) {
      tellDamage(line, settings)
    } else if (matches(record, line)) {
      if (isCaughtUp) yield { record, bytes }
      else if (kept.push({ record, bytes: Buffer.from(bytes) }) > (last ?? 0)) kept.shift()
    }
  }
  yield* kept
}

async function* linesOf(
  log: string | readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<AuditLine, void> {
  for await (const line of readLines(openFiles(log), signal)) {
    // What has no end is not written yet.
    if (line.isWhole) yield line
  }
}

function matcher({
  kind,
  run,
  agent,
  from,
  to,
  text,
  where,
}: Settings): (record: AuditRecord, line: AuditLine) => boolean {
  const kinds = kind === undefined ? undefined : [kind].flat()
  // As it stands in the line.
  const needle = text === undefined ? undefined : JSON.stringify(text).slice(1, -1).toLowerCase()
  return (record, { bytes }) => {
    if (kinds && !kinds.includes(record.kind)) return false
    if (run !== undefined && record.run !== run) return false
    if (agent !== undefined && record.agent !== agent) return false
    const at = Date.parse(record.at)
    if ((from !== undefined && at < from) || (to !== undefined && at > to)) return false
    if (where && !where(record)) return false
    return needle === undefined || bytes.toString("utf8").toLowerCase().includes(needle)
  }
}

function tellDamage({ file, number: line }: AuditLine, { onDamage }: Settings): void {
  if (onDamage) onDamage({ file, line })
  else
    throw new GloveboxError("AUDIT_LOG_BROKEN", `Line ${line} of ${file} is no audit record. Verify the log.`)
}
