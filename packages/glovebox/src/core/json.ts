import { describe, shorten } from "../internal/describe.ts"
import { isPlainObject } from "../internal/plain-object.ts"
import { isMessage } from "./message.ts"

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject

export interface JsonObject {
  readonly [key: string]: JsonValue
}

// Deeper than any real document, shallower than the stack.
const MAX_DEPTH = 500

/**
 * Checks that a value survives JSON unchanged: JSON.stringify alone would drop functions, turn NaN and
 * undefined array items into null and a Map into {}, and say nothing.
 *
 * @throws TypeError that names the path
 */
export function checkJson(value: unknown): void {
  check(value, "", 0)
}

function check(value: unknown, path: string, depth: number): void {
  if (depth > MAX_DEPTH) throw new TypeError(`${at(path)} is nested too deep, or holds itself`)
  if (typeof value === "string" || typeof value === "boolean" || value === null) return
  if (typeof value === "number" && Number.isFinite(value)) return
  if (typeof value === "object") {
    checkObject(value, path, depth)
    return
  }
  throw new TypeError(`${at(path)} is ${describe(value)}, which JSON cannot hold`)
}

function checkObject(value: object, path: string, depth: number): void {
  if (Array.isArray(value)) {
    // By index, because a hole is not an item to forEach.
    for (let index = 0; index < value.length; index += 1) check(value[index], `${path}[${index}]`, depth + 1)
    return
  }
  // A message's class adds only its name to plain fields; any other class would be lost.
  if (!isPlainObject(value) && !isMessage(value)) {
    throw new TypeError(`${at(path)} is ${describe(value)}, which JSON cannot hold`)
  }
  if ("toJSON" in value && typeof value.toJSON === "function") {
    throw new TypeError(`${at(path)} has a toJSON method, which would change it`)
  }
  for (const [key, item] of Object.entries(value)) {
    // An absent optional field is the same before and after.
    if (item !== undefined) check(item, path === "" ? key : `${path}.${key}`, depth + 1)
  }
}

function at(path: string): string {
  return path === "" ? "the value" : shorten(path)
}
