import { formatAuditRecord } from "../../governance/audit/index.ts"
import { type RecordLine, readRecordLines } from "../../governance/audit/read-audit-log.ts"
import type { CommandOutput } from "../command-output.ts"
import { DamageNotes } from "./damage-notes.ts"
import { type FilterOptions, readFilter } from "./filter-options.ts"
import { findLog } from "./find-log.ts"
import { isDenied } from "./is-denied.ts"
import { checkForRecords, warnIfBroken } from "./warn-if-broken.ts"

export interface ShowOptions extends FilterOptions {
  readonly last?: number
  readonly json?: true
}

/** `glovebox audit show` */
export async function showRecords(
  file: string | undefined,
  options: ShowOptions,
  output: CommandOutput,
  signal: AbortSignal,
): Promise<void> {
  const filter = readFilter(options)
  const path = await findLog(file)
  await warnIfBroken(path, output, { signal })
  const damage = new DamageNotes(output)
  const settings = { ...filter, last: options.last, onDamage: damage.add, signal }
  let isAny = false
  for await (const line of readRecordLines(path, settings)) {
    isAny = true
    await printRecord(line, options, output, signal)
  }
  damage.end()
  if (isAny) return
  await checkForRecords(path, signal)
  output.note("no record fits")
}

/** One record: its line as it is for a program, a readable one for a person. */
export async function printRecord(
  { record, bytes }: RecordLine,
  { json }: { readonly json?: true },
  output: CommandOutput,
  signal: AbortSignal,
): Promise<void> {
  const { stdout } = output
  if (json) {
    await stdout.writeWords(`${bytes.toString()}\n`, signal)
    return
  }
  const line = formatAuditRecord(record)
  await stdout.write(`${isDenied(record) ? stdout.style("red", line) : line}\n`, signal)
}
