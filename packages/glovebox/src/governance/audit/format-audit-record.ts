import { visibleLine } from "../../internal/safe-text.ts"
import type { AuditRecord } from "./record-line.ts"

const SHORT_HASH = 12
const MAX_VALUE = 200
const MAX_NAME = 60
const MAX_LINE = 4000
// What stands first in the line of a record; the rest comes in the order it was written.
const LEADING = ["phase", "event", "state", "action", "decision", "outcome", "tool", "name"]
// Told by others, or too long for a line.
const LEFT_OUT = new Set(["effective", "details", "policy", "payload", "signature", "content"])

/** A record in one line that a terminal can show: nothing in it is acted on, and nothing is invisible. */
export function formatAuditRecord(record: AuditRecord): string {
  const { seq, at, kind, run, agent } = record
  const who = [run, agent].filter((part) => part !== null).join("/")
  const line = [at, `#${seq}`, kind, who && `[${who}]`, summarizeAuditData(record)].filter(Boolean).join(" ")
  const short = cut(line, MAX_LINE)
  // Most are plain, and there are millions of them.
  return /^[ -~]*$/.test(short) ? short : visibleLine(short)
}

/** The data of a record as `name=value`, cut to what is read at a glance. */
export function summarizeAuditData({ data }: Pick<AuditRecord, "data">): string {
  const names = Object.keys(data).filter((name) => !LEFT_OUT.has(name))
  const ordered = [
    ...LEADING.filter((name) => names.includes(name)),
    ...names.filter((name) => !LEADING.includes(name)),
  ]
  return ordered.map((name) => `${cut(name, MAX_NAME)}=${value(data[name])}`).join(" ")
}

function value(item: unknown): string {
  if (typeof item === "string" && /^[0-9a-f]{64}$/.test(item)) return item.slice(0, SHORT_HASH)
  if (typeof item === "string" && /^[\w.:@/+-]{1,80}$/.test(item)) return item
  return cut(
    JSON.stringify(item, (_, inner: unknown) =>
      typeof inner === "string" && /^[0-9a-f]{64}$/.test(inner) ? inner.slice(0, SHORT_HASH) : inner,
    ),
    MAX_VALUE,
  )
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1).replace(/\p{Cs}$/u, "")}…` : text
}
