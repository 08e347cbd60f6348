import { createHash } from "node:crypto"
import { canonicalJson } from "../internal/canonical-json.ts"
import { describe } from "../internal/describe.ts"
import { isPlainObject } from "../internal/plain-object.ts"

/** The SHA-256 of a call; two calls that differ in anything have two. */
export function hashCall(tool: string, args: unknown): string {
  return createHash("sha256")
    .update(canonicalJson({ tool, arguments: asJson(args, []) }))
    .digest("hex")
}

// A schema may make of JSON what JSON has no form for; as "{}" every date would be the same.
function asJson(value: unknown, above: readonly object[]): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value
  if (typeof value === "number" && Number.isFinite(value)) return value
  if (typeof value === "bigint") return { $bigint: value.toString() }
  if (typeof value !== "object") return { [`$${typeof value}`]: describe(value) }
  if (above.includes(value)) return { $above: above.indexOf(value) }
  const inner = (item: unknown): unknown => asJson(item, [...above, value])
  if (Array.isArray(value)) return value.map(inner)
  if (isPlainObject(value)) return fieldsOf(value, inner)
  return {
    $class: Object.prototype.toString.call(value),
    value: valueOf(value, inner),
    fields: fieldsOf(value, inner),
  }
}

function valueOf(value: object, inner: (item: unknown) => unknown): unknown {
  if (value instanceof Date) return String(value.getTime())
  if (value instanceof RegExp) return String(value)
  if (value instanceof Map || value instanceof Set) return [...value].map(inner)
  if (ArrayBuffer.isView(value)) return undefined
  return "toJSON" in value && typeof value.toJSON === "function" ? inner(value.toJSON()) : undefined
}

function fieldsOf(value: object, inner: (item: unknown) => unknown): Record<string, unknown> {
  const fields = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(fields.map(([key, item]) => [key, inner(item)]))
}
