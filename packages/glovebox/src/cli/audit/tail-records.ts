import { stat } from "node:fs/promises"
import { dirname } from "node:path"
import { readRecordLines } from "../../governance/audit/read-audit-log.ts"
import type { CommandOutput } from "../command-output.ts"
import { DamageNotes } from "./damage-notes.ts"
import { type FilterOptions, readFilter } from "./filter-options.ts"
import { findLog } from "./find-log.ts"
import { printRecord } from "./show-records.ts"

export interface TailOptions extends FilterOptions {
  readonly lines: number
  readonly follow?: boolean
  readonly json?: true
}

/** `glovebox audit tail` */
export async function tailRecords(
  file: string | undefined,
  options: TailOptions,
  output: CommandOutput,
  signal: AbortSignal,
): Promise<void> {
  const { lines: last, follow = true } = options
  const filter = readFilter(options)
  const path = await findLog(file, {
    isEnough: async (missing) => {
      if (!follow || !(await isFolder(dirname(missing)))) return false
      output.note(`${missing} is not there yet; waiting for it`)
      return true
    },
  })
  const damage = new DamageNotes(output)
  const settings = { ...filter, last, follow, onDamage: damage.add, signal }
  for await (const line of readRecordLines(path, settings)) await printRecord(line, options, output, signal)
  damage.end()
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
