import { summarizeAuditData } from "./format-audit-record.ts"
import type { AuditRecord } from "./record-line.ts"

export const AUDIT_EXPORT_FORMATS = ["json", "jsonl", "csv"] as const
export type AuditExportFormat = (typeof AUDIT_EXPORT_FORMATS)[number]

const COLUMNS = ["seq", "at", "mono", "run", "agent", "kind", "summary", "data", "prev", "hash"] as const

/** Records as one JSON array, as lines of JSON, or as CSV with a header, in pieces to be written one after the other. */
export async function* exportAuditLog(
  records: AsyncIterable<AuditRecord>,
  format: AuditExportFormat,
): AsyncGenerator<string, void> {
  yield* exportRecordLines(withLines(records), format)
}

/** The same for records with the lines they were read from, which go out as they are. */
export async function* exportRecordLines(
  records: AsyncIterable<{ readonly record: AuditRecord; readonly bytes: Buffer | string }>,
  format: AuditExportFormat,
): AsyncGenerator<string, void> {
  if (format === "csv") yield `${COLUMNS.join(",")}\r\n`
  let isFirst = true
  for await (const { record, bytes } of records) {
    if (format === "csv") yield csvRow(record)
    else if (format === "jsonl") yield `${bytes.toString()}\n`
    else yield `${isFirst ? "[" : ","}\n${bytes.toString()}`
    isFirst = false
  }
  if (format === "json") yield isFirst ? "[]\n" : "\n]\n"
}

async function* withLines(
  records: AsyncIterable<AuditRecord>,
): AsyncGenerator<{ record: AuditRecord; bytes: string }, void> {
  for await (const record of records) yield { record, bytes: JSON.stringify(record) }
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
  // A spreadsheet would run what begins so as a formula, also after blanks and in the wide forms of these signs.
  const safe = /^[\s\p{Cc}]*[=+\-@＝＋－＠]|^[\t\r\n]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
