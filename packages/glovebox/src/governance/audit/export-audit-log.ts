import { summarizeAuditData } from "./format-audit-record.ts"
import type { AuditRecord } from "./record-line.ts"

const COLUMNS = ["seq", "at", "mono", "run", "agent", "kind", "summary", "data", "prev", "hash"] as const

/** Records as one JSON array or as CSV with a header, in pieces to be written one after the other. */
export async function* exportAuditLog(
  records: AsyncIterable<AuditRecord>,
  format: "json" | "csv",
): AsyncGenerator<string, void> {
  if (format === "csv") {
    yield `${COLUMNS.join(",")}\r\n`
    for await (const record of records) yield csvRow(record)
    return
  }
  let before = "[\n"
  for await (const record of records) {
    yield `${before}${JSON.stringify(record)}`
    before = ",\n"
  }
  yield before === "[\n" ? "[]\n" : "\n]\n"
}

function csvRow(record: AuditRecord): string {
  const { seq, at, mono, run, agent, kind, data, prev, hash } = record
  const cells = [
    String(seq),
    at,
    String(mono),
    run ?? "",
    agent ?? "",
    kind,
    summarizeAuditData(record),
    JSON.stringify(data),
    prev,
    hash,
  ]
  return `${cells.map(csvCell).join(",")}\r\n`
}

function csvCell(text: string): string {
  // A spreadsheet would run what begins so as a formula.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
