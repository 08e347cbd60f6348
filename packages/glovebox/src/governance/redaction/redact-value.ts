import { GloveboxError } from "../../core/glovebox-error.ts"
import { isError } from "../../internal/is-error.ts"
import { copyError } from "./redact-error.ts"

interface TextRules {
  text(text: string): string
  /** What stands for a value whose key says that it is a secret. */
  readonly placeholder: string
  isPlaceholder(text: string): boolean
  /** Told of a part of an error that is left out, because it cannot be read. */
  onUnreadable?(): void
}

// A key with this as its last words has a secret, whatever it looks like.
const SECRET_KEY =
  /(?:password|passwd|passphrase|secret|authorization|cookie|api[_-]?key|private[_-]?key|access[_-]?key|secret[_-]?key|access[_-]?token|refresh[_-]?token|auth[_-]?token|id[_-]?token|bearer[_-]?token|credentials?)$/i
// With one of these in it, what it has is a secret where it looks like one, as in a text.
const SECRET_WORD = /token|secret|passw|passphrase|pwd|credential|key/i
const ORDINARY = /^(?:true|false|none|null|undefined|string|required|optional|hidden|)$/i
// Deeper than any real document, shallower than the stack.
const MAX_DEPTH = 500
const SHORTEST_NUMBER = 6

/** A copy of data without its secrets. Keys stay, what is given is never changed, and what holds itself is refused. */
export function redactValue(value: unknown, rules: TextRules): unknown {
  return copy(value, rules, [])
}

/** The error itself when there is no secret in it; else a copy of the same class without. */
export function redactError(error: Error, rules: TextRules): Error {
  let isClean = true
  const changed = (): void => {
    isClean = false
  }
  const noting: TextRules = {
    text: (text) => {
      const clean = rules.text(text)
      if (clean !== text) changed()
      return clean
    },
    get placeholder() {
      changed()
      return rules.placeholder
    },
    isPlaceholder: (text) => rules.isPlaceholder(text),
    onUnreadable: changed,
  }
  const copied = errorCopy(error, noting, [])
  return isClean ? error : copied
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
  if (isError(value)) return errorCopy(value, rules, holders.slice(0, -1))
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
  if (typeof key !== "string") return copy(item, rules, holders)
  if (SECRET_KEY.test(key)) return copySecret(item, rules, holders)
  const clean = copy(item, rules, holders)
  if (clean !== item || typeof item !== "string" || !SECRET_WORD.test(key)) return clean
  const assigned = rules.text(`${key}=${item}`)
  return assigned.startsWith(`${key}=`) ? assigned.slice(key.length + 1) : clean
}

// What is a secret by its key: a text, a number that could be one, or a list of them, as headers are.
function copySecret(item: unknown, rules: TextRules, holders: readonly object[]): unknown {
  if (Array.isArray(item)) {
    const within = enter(item, holders)
    return item.map((inner) => copySecret(inner, rules, within))
  }
  if (typeof item === "number" || typeof item === "bigint") {
    return String(item).length < SHORTEST_NUMBER ? item : rules.placeholder
  }
  if (typeof item !== "string" || ORDINARY.test(item)) return copy(item, rules, holders)
  const clean = rules.text(item)
  return rules.isPlaceholder(clean) ? clean : rules.placeholder
}

// Bytes that hold a secret become text.
function bytes(value: Uint8Array, rules: TextRules): Uint8Array | string {
  const text = Buffer.from(value.buffer, value.byteOffset, value.length).toString("utf8")
  const clean = rules.text(text)
  return clean === text ? value.slice() : clean
}

function errorCopy(error: Error, rules: TextRules, outer: readonly object[]): Error {
  const holders = enter(error, outer)
  return copyError(error, {
    text: (text) => rules.text(text),
    field: (key, item) => copyField(key, item, rules, holders),
    onUnreadable: () => rules.onUnreadable?.(),
  })
}

function refused(why: string): GloveboxError {
  return new GloveboxError("SERIALIZATION_FAILED", `The value cannot be redacted: ${why}.`)
}
