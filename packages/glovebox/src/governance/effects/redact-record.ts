import type { AuditEntry } from "../audit/record-kinds.ts"
import type { Redactor } from "../redaction/redactor.ts"

// They look as random as a secret, and are what a record is checked by.
const FINGERPRINT =
  /^(?:(?:sha256:)?[0-9a-f]{64}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/

// What is whose content: there a hash is as likely a secret.
const CONTENT = new Set(
  "answer arguments by code content detail details error language output reason stopReason task".split(" "),
)

/** The entry without its secrets; hashes and ids stay as they are. */
export function redactRecord<Entry extends AuditEntry>(entry: Entry, redactor: Redactor): Entry {
  return { ...entry, data: clean(entry.data, redactor) as Entry["data"] }
}

function clean(value: unknown, redactor: Redactor): unknown {
  if (isFingerprint(value)) return value
  if (Array.isArray(value)) return value.map((item) => clean(item, redactor))
  if (typeof value !== "object" || value === null) return redactor.value(value)
  const fields = Object.entries(value).map(([key, item]): [string, unknown] => {
    if (!CONTENT.has(key)) {
      if (isFingerprint(item)) return [key, item]
      if (typeof item === "object" && item !== null) return [redactor.text(key), clean(item, redactor)]
    }
    // With its key, which may say that it is a secret.
    return Object.entries(redactor.value({ [key]: item }) as object)[0] ?? [key, undefined]
  })
  return Object.fromEntries(fields)
}

function isFingerprint(value: unknown): boolean {
  return typeof value === "string" && FINGERPRINT.test(value)
}
