import { cpus } from "node:os"
import type { JsonObject } from "glovebox/core"
import { twoDecimals, whole } from "../format-number.ts"
import { formatTable } from "../format-table.ts"
import { measureRates } from "../measure-rates.ts"
import { CONCURRENCY, type ContenderName, Contenders } from "./contenders.ts"

const TITLES: Record<ContenderName, string> = {
  plain: "plain append: no fsync, no hash",
  plainGroup: `plain append, ${CONCURRENCY} at a time`,
  plainSync: "plain append with fsync, no hash",
  recordSync: "audit log, fsync per record",
  groupSerial: "audit log, one append at a time",
  group: `audit log, group commit of ${CONCURRENCY} at a time`,
}

/** Records a second of the audit log, against plain appends to a file in the same run. */
export async function auditBench(print: (line: string) => void): Promise<JsonObject> {
  await using contenders = await Contenders.make()
  print(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown CPU"}.`)
  print("Every record is on the disk before it counts, but for plain appends without fsync.\n")
  const rates = await measureRates(contenders.batches())
  const row = (name: ContenderName): string[] => [
    TITLES[name],
    whole(rates[name]),
    twoDecimals(rates[name] / rates.plain),
    twoDecimals(rates[name] / rates.plainSync),
  ]
  print(
    formatTable(
      ["records a second, medians of rounds", "records", "to plain", "to plain with fsync"],
      [
        row("plain"),
        row("plainGroup"),
        row("plainSync"),
        row("recordSync"),
        row("groupSerial"),
        row("group"),
      ],
    ),
  )
  return {
    plainPerSecond: Math.round(rates.plain),
    plainGroupPerSecond: Math.round(rates.plainGroup),
    plainSyncPerSecond: Math.round(rates.plainSync),
    recordSyncPerSecond: Math.round(rates.recordSync),
    groupSerialPerSecond: Math.round(rates.groupSerial),
    groupPerSecond: Math.round(rates.group),
    recordSyncToPlain: rounded(rates.recordSync / rates.plain),
    groupToPlain: rounded(rates.group / rates.plain),
    groupToPlainGroup: rounded(rates.group / rates.plainGroup),
    recordSyncToPlainSync: rounded(rates.recordSync / rates.plainSync),
    groupToPlainSync: rounded(rates.group / rates.plainSync),
  }
}

function rounded(value: number): number {
  return Number(value.toFixed(3))
}
