import { describe } from "../internal/describe.ts"

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject

export interface JsonObject {
  readonly [key: string]: JsonValue
}

// Deeper than any real document, shallower than the stack.
const MAX_DEPTH = 500

/**
 * Checks that a value survives JSON unchanged: JSON.stringify alone would drop functions and
 * undefined array items, turn NaN into null, and say nothing.
 *
 * @throws TypeError that names the path
 */
export function checkJson(value: unknown): void {
  check(value, "", 0)
}

function check(value: unknown, path: string, depth: number): void {
  if (depth > MAX_DEPTH) throw new TypeError(`${at(path)} is nested too deep, or holds itself`)
  switch (typeof value) {
    case "string":
    case "boolean":
      return
    case "number":
      if (Number.isFinite(value)) return
      break
    case "object":
      if (value === null) return
      checkObject(value, path, depth)
      return
    default:
  }
  throw new TypeError(`${at(path)} is ${describe(value)}, which JSON cannot hold`)
}

function checkObject(value: object, path: string, depth: number): void {
  if (Array.isArray(value)) {
    value.forEach((item, index) => check(item, `${path}[${index}]`, depth + 1))
    return
  }
  if (!isPlain(value))
    throw new TypeError(`${at(path)} is a ${value.constructor.name}, which JSON cannot hold`)
  for (const [key, item] of Object.entries(value)) {
    // An absent optional field is the same before and after.
    if (item !== undefined) check(item, path === "" ? key : `${path}.${key}`, depth + 1)
  }
}

// A message's class adds only its name to plain fields; a toJSON (Date, URL, Buffer) would change the value.
function isPlain(value: object): boolean {
  if ("toJSON" in value && typeof value.toJSON === "function") return false
  return !(
    value instanceof Map ||
    value instanceof Set ||
    value instanceof RegExp ||
    value instanceof Error ||
    value instanceof Promise ||
    ArrayBuffer.isView(value) ||
    value instanceof ArrayBuffer
  )
}

function at(path: string): string {
  return path === "" ? "the value" : path
}
