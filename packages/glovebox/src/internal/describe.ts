import { isPlainObject } from "./plain-object.ts"

const MAX_LENGTH = 80

/** A short, safe rendering of any value for an error message. */
export function describe(value: unknown): string {
  try {
    return shorten(render(value))
  } catch {
    // A cycle, a bigint inside, or a getter that throws.
    return `${typeof value === "function" ? "a function" : "an object"} that cannot be shown`
  }
}

/** Cuts a text that is too long for an error message. */
export function shorten(text: string): string {
  // A cut between two surrogates would leave half a character.
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1).replace(/\p{Cs}$/u, "")}…` : text
}

function render(value: unknown): string {
  // Cut first: a text can be far longer than what is shown of it.
  if (typeof value === "string") return JSON.stringify(value.slice(0, MAX_LENGTH))
  if (typeof value === "symbol") return value.toString()
  if (typeof value === "function") return value.name === "" ? "a function" : `function ${value.name}`
  if (typeof value === "object") return renderObject(value)
  return `${value as number | bigint | boolean | undefined}`
}

function renderObject(value: object | null): string {
  if (value === null) return "null"
  const name = Array.isArray(value) || isPlainObject(value) ? "" : value.constructor.name
  if (name !== "") return `${/^[AEIO]/i.test(name) ? "an" : "a"} ${name}`
  return JSON.stringify(value) ?? "an object"
}
