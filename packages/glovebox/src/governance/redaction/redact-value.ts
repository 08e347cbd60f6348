import { GloveboxError } from "../../core/index.ts"
import { isError } from "../../internal/is-error.ts"

interface TextRules {
  text(text: string): string
  /** What stands for a value whose key says that it is a secret. */
  readonly placeholder: string
  isPlaceholder(text: string): boolean
}

// A key with this as its last words has a secret, whatever it looks like.
const SECRET_KEY =
  /(?:password|passwd|passphrase|secret|authorization|cookie|api[_-]?key|private[_-]?key|access[_-]?key|secret[_-]?key|access[_-]?token|refresh[_-]?token|auth[_-]?token|id[_-]?token|bearer[_-]?token|credentials?)$/i
const ORDINARY = /^(?:true|false|none|null|undefined|string|required|optional|hidden|)$/i
// Deeper than any real document, shallower than the stack.
const MAX_DEPTH = 500

/** A copy of data without its secrets. Keys stay, what is given is never changed, and what holds itself is refused. */
export function redactValue(value: unknown, rules: TextRules): unknown {
  return copy(value, rules, [])
}

/** A copy of an error of the same class, without secrets in its message, its stack, its fields and its causes. */
export function redactError(error: Error, rules: TextRules): Error {
  return copyError(error, rules, [])
}

function copy(value: unknown, rules: TextRules, holders: readonly object[]): unknown {
  if (typeof value === "string") return rules.text(value)
  if (typeof value === "number" || typeof value === "bigint") {
    const clean = rules.text(String(value))
    return clean === String(value) ? value : clean
  }
  if (typeof value === "function" || typeof value === "symbol") return undefined
  if (typeof value !== "object" || value === null) return value
  return copyObject(value, rules, enter(value, holders))
}

function enter(value: object, holders: readonly object[]): readonly object[] {
  if (holders.includes(value)) throw refused("it holds itself")
  if (holders.length >= MAX_DEPTH) throw refused("it is nested too deep")
  return [...holders, value]
}

function copyObject(value: object, rules: TextRules, holders: readonly object[]): unknown {
  if (Array.isArray(value)) return Array.from(value, (item) => copy(item, rules, holders))
  if (isError(value)) return copyError(value, rules, holders.slice(0, -1))
  if (value instanceof Date) return new Date(value)
  if (value instanceof Uint8Array) return bytes(value, rules)
  if (value instanceof Set) return new Set([...value].map((item) => copy(item, rules, holders)))
  if (value instanceof Map) {
    return new Map(
      [...value].map(([key, item]) => [copy(key, rules, holders), copyField(key, item, rules, holders)]),
    )
  }
  if ("toJSON" in value && typeof value.toJSON === "function") return copy(value.toJSON(), rules, holders)
  return copyFields(value, rules, holders)
}

function copyFields(value: object, rules: TextRules, holders: readonly object[]): Record<string, unknown> {
  const taken = new Set<string>()
  const fields = Object.entries(value).map(([key, item]): [string, unknown] => {
    let name = rules.text(key)
    // Two keys that are secrets stay two.
    for (let number = 2; taken.has(name); number += 1) name = `${rules.text(key)} (${number})`
    taken.add(name)
    return [name, copyField(key, item, rules, holders)]
  })
  return Object.fromEntries(fields)
}

function copyField(key: unknown, item: unknown, rules: TextRules, holders: readonly object[]): unknown {
  if (typeof key === "string" && typeof item === "string" && SECRET_KEY.test(key) && !ORDINARY.test(item)) {
    const clean = rules.text(item)
    return rules.isPlaceholder(clean) ? clean : rules.placeholder
  }
  return copy(item, rules, holders)
}

// Bytes that hold a secret become text.
function bytes(value: Uint8Array, rules: TextRules): Uint8Array | string {
  const text = Buffer.from(value.buffer, value.byteOffset, value.length).toString("utf8")
  const clean = rules.text(text)
  return clean === text ? value.slice() : clean
}

function copyError(error: Error, rules: TextRules, outer: readonly object[]): Error {
  const holders = enter(error, outer)
  const clean = new Error(rules.text(error.message))
  Object.setPrototypeOf(clean, Object.getPrototypeOf(error) as object)
  const { stack } = error
  define(clean, "stack", typeof stack === "string" ? rules.text(stack) : undefined)
  for (const key of Object.getOwnPropertyNames(error)) {
    if (key === "message" || key === "stack") continue
    const { enumerable } = Object.getOwnPropertyDescriptor(error, key) ?? {}
    const item = copyField(key, Reflect.get(error, key), rules, holders)
    Object.defineProperty(clean, key, { value: item, enumerable, writable: true, configurable: true })
  }
  return clean
}

function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: false, writable: true, configurable: true })
}

function refused(why: string): GloveboxError {
  return new GloveboxError("SERIALIZATION_FAILED", `The value cannot be redacted: ${why}.`)
}
