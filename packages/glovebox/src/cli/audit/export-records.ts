import { createHash } from "node:crypto"
import { extname } from "node:path"
import type { AuditExportFormat, AuditVerification } from "../../governance/audit/index.ts"
import { exportRecordLines } from "../../governance/audit/export-audit-log.ts"
import { type RecordLine, readRecordLines } from "../../governance/audit/read-audit-log.ts"
import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"
import type { CommandOutput } from "../command-output.ts"
import { DamageNotes } from "./damage-notes.ts"
import { type FilterOptions, readFilter } from "./filter-options.ts"
import { findLog } from "./find-log.ts"
import { NewFile } from "./new-file.ts"
import { type CheckOptions, readCheck } from "./verify-log.ts"
import { checkForRecords, warnIfBroken } from "./warn-if-broken.ts"

export interface ExportOptions extends FilterOptions, CheckOptions {
  readonly out?: string
  readonly format?: AuditExportFormat
  readonly last?: number
  readonly force?: true
  readonly json?: true
}

/** What stands beside an export: of what it was made, and whether that was whole. */
interface ExportStatement {
  readonly log: string
  readonly exportedAt: string
  readonly format: AuditExportFormat
  readonly filters: FilterOptions & Pick<ExportOptions, "last">
  /** How many were exported. */
  readonly records: number
  /** Of what was written. */
  readonly sha256: string
  /** Null when the log's head could not be read. */
  readonly verification: AuditVerification | null
}

/** `glovebox audit export` */
export async function exportRecords(
  file: string | undefined,
  options: ExportOptions,
  output: CommandOutput,
  signal: AbortSignal,
): Promise<void> {
  const { out, key, head, after, force, json, format = formatOf(out), ...filters } = options
  readFilter(filters)
  const check = await readCheck({ key, head, after }, signal)
  const path = await findLog(file)
  const target = out === undefined || out === "-" ? undefined : out
  if (json && target === undefined && format !== "json") throw notJson(format)
  // First, so that nothing long is done in vain.
  await using data = target === undefined ? undefined : await NewFile.make(target, { log: path, force })
  await using beside =
    target === undefined ? undefined : await NewFile.make(`${target}.verification.json`, { log: path, force })
  const verification = await warnIfBroken(path, output, check)
  const write = async (piece: string): Promise<void> =>
    data ? data.write(piece) : output.stdout.write(piece, signal)
  const written = await exportAll(path, { filters, format, verification, output, signal, write })
  if (written.records === 0) await checkForRecords(path, signal)
  const statement: ExportStatement = {
    log: path,
    exportedAt: new Date().toISOString(),
    format,
    filters,
    ...written,
    verification: verification ?? null,
  }
  await beside?.write(`${JSON.stringify(statement, undefined, 2)}\n`)
  // The statement first: no export is there without one.
  await beside?.keep()
  await data?.keep()
  if (json && target !== undefined) output.print(JSON.stringify(statement))
  else output.note(summary(statement, target))
}

interface Exporting {
  readonly filters: FilterOptions & Pick<ExportOptions, "last">
  readonly format: AuditExportFormat
  readonly verification: AuditVerification | undefined
  readonly output: CommandOutput
  readonly signal: AbortSignal
  readonly write: (piece: string) => Promise<void>
}

async function exportAll(
  path: string,
  { filters, format, verification, output, signal, write }: Exporting,
): Promise<{ records: number; sha256: string }> {
  const { last, ...rest } = filters
  const filter = readFilter(rest)
  // What was written since is not part of what was verified.
  const end = verification?.ok ? (verification.head?.seq ?? 0) : Infinity
  const damage = new DamageNotes(output)
  const lines = readRecordLines(path, {
    ...filter,
    where: (record) => record.seq <= end && filter.where?.(record) === true,
    last,
    onDamage: damage.add,
    signal,
  })
  const hash = createHash("sha256")
  let records = 0
  const counted = async function* (): AsyncGenerator<RecordLine, void> {
    for await (const line of lines) {
      records += 1
      yield line
    }
  }
  for await (const piece of exportRecordLines(counted(), format)) {
    hash.update(piece)
    await write(piece)
  }
  damage.end()
  return { records, sha256: hash.digest("hex") }
}

function notJson(format: AuditExportFormat): CommandFailure {
  const message = `--json prints JSON, and --format ${format} is none. Leave out one of them, or name a file by --out.`
  return new CommandFailure(message, { exitCode: EXIT_USAGE })
}

function formatOf(out: string | undefined): AuditExportFormat {
  const extension = extname(out ?? "").toLowerCase()
  if (extension === ".csv") return "csv"
  return extension === ".jsonl" || extension === ".ndjson" ? "jsonl" : "json"
}

function summary({ records, verification, sha256 }: ExportStatement, out: string | undefined): string {
  const { head, ok } = verification ?? { head: undefined, ok: false }
  const state = ok ? `whole up to ${head?.seq}:${head?.hash}` : "NOT as it was written"
  const where = out === undefined ? "" : ` to ${out}, with ${out}.verification.json`
  return `exported ${records} ${records === 1 ? "record" : "records"}${where}; the log is ${state}; sha256 of the export ${sha256}`
}
