import type { AuditEntry } from "../audit/record-kinds.ts"
import { sha256Of } from "../audit/code-run-data.ts"

// Of one field, as JSON: far below what a record may have, and more than any name or reason needs.
const MOST = 16 * 1024
const SHOWN = 200

// A record is none without these: what is too long is cut, visibly.
const KEPT = new Set(["tool", "model", "id", "host", "subject", "target", "name", "by", "source", "language"])

/** The same record without what makes it too large: what was left out is named, with its size and its hash. */
export function shrinkRecord<Entry extends AuditEntry>(entry: Entry): Entry {
  const { agent } = entry
  return {
    ...entry,
    ...(agent !== undefined && { agent: cut(agent) }),
    data: shrink(entry.data),
  }
}

function shrink(data: object): Record<string, unknown> {
  const omitted: string[] = []
  const fields = Object.entries(data).flatMap(([key, value]): [string, unknown][] => {
    if (key === "blocks" && Array.isArray(value)) {
      return [[key, value.map((block: object, index) => withoutCode(block, index, omitted))]]
    }
    if (KEPT.has(key) && typeof value === "string") return [[key, cut(value)]]
    const text = JSON.stringify(value) ?? ""
    if (Buffer.byteLength(text) <= MOST) return [[key, value]]
    omitted.push(note(key, typeof value === "string" ? value : text))
    return []
  })
  return { ...Object.fromEntries(fields), ...(omitted.length > 0 && { omitted }) }
}

function withoutCode(block: object, index: number, omitted: string[]): Record<string, unknown> {
  const { code, language, ...rest } = block as Readonly<Record<string, unknown>>
  const isLong = typeof code === "string" && Buffer.byteLength(code) > MOST
  if (isLong) omitted.push(note(`blocks[${index}].code`, code))
  return {
    ...rest,
    language: typeof language === "string" ? cut(language) : language,
    ...(code !== undefined && !isLong && { code }),
  }
}

function note(what: string, text: string): string {
  return `${what}: ${Buffer.byteLength(text)} bytes, sha256 ${sha256Of(text)}`
}

function cut(text: string): string {
  if (text.length <= MOST) return text
  return `${text.slice(0, SHOWN).replace(/\p{Cs}$/u, "")}… (${note("all of it", text)})`
}
