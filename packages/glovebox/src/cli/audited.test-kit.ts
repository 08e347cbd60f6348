import { type AuditRecord, readAuditLog, verifyAuditLog } from "../governance/index.ts"

/** What is in a log whose chain is whole, but for what the log says of itself. */
export async function auditedRecords(path: string): Promise<AuditRecord[]> {
  const verification = await verifyAuditLog(path)
  if (!verification.ok) throw new Error(`The chain is broken: ${JSON.stringify(verification)}`)
  const records: AuditRecord[] = []
  for await (const record of readAuditLog(path)) records.push(record)
  return records.filter(({ kind }) => kind !== "log" && kind !== "checkpoint")
}

/** In short: the kind, and what became of it. */
export function told(records: readonly AuditRecord[]): string[] {
  return records.map(({ kind, data }) => {
    const more = data["phase"] ?? data["event"] ?? data["outcome"]
    return typeof more === "string" ? `${kind} ${more}` : kind
  })
}
