import { unreadable } from "./unreadable.ts"

/** Where an answer's body ends, if it is the answer at all. */
export type AnswerFraming =
  /** Another head comes behind it. */
  | { readonly kind: "interim" }
  | { readonly kind: "chunked" }
  | { readonly kind: "length"; readonly length: number }
  /** With the connection. */
  | { readonly kind: "open" }

const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: |$)/
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/
const LENGTH = /^\d{1,15}$/
const SWITCHED = "101"

/** Reads a head, without the empty line behind it; what two readers could read in two ways is refused. Throws Refusal. */
export function readAnswerHead(text: string): AnswerFraming {
  const [first = "", ...lines] = text.split("\r\n")
  const status = STATUS_LINE.exec(first)?.[1]
  if (status === undefined) throw unreadable("does not begin as one of HTTP/1 does")
  const fields = lines.map(readField)
  if (/[\r\n\0]/.test(first) || fields.includes(undefined))
    throw unreadable("has a line in its head that is no header")
  if (status === SWITCHED) return { kind: "open" }
  if (status.startsWith("1")) return { kind: "interim" }
  const membersOf = (name: string): string[] =>
    fields.flatMap((field) => (field?.key === name ? field.members : []))
  if (membersOf("content-encoding").some((coding) => coding !== "identity"))
    throw unreadable("is compressed, though it was asked not to be")
  const codings = membersOf("transfer-encoding")
  if (codings.length > 1 || (codings[0] ?? "chunked") !== "chunked")
    throw unreadable("has a transfer encoding other than chunked")
  if (codings.length === 1) return { kind: "chunked" }
  const [length, ...others] = new Set(membersOf("content-length"))
  if (length === undefined) return { kind: "open" }
  if (others.length > 0 || !LENGTH.test(length))
    throw unreadable("has a Content-Length that is not one number")
  return { kind: "length", length: Number(length) }
}

// Undefined for a line that is none, also for one that goes on from the line before.
function readField(line: string): { readonly key: string; readonly members: readonly string[] } | undefined {
  const [, name, value] = FIELD.exec(line) ?? []
  if (name === undefined || value === undefined || /[\r\n\0]/.test(value)) return undefined
  const members = value.split(",").map((member) => member.trim().toLowerCase())
  return { key: name.toLowerCase(), members: members.filter((member) => member !== "") }
}
