import { type Message, isMessage, messageTypeOf } from "../../core/index.ts"
import { isPlainObject } from "../../internal/plain-object.ts"

/** Gives another text for one in a message; `path` says where it is. */
export type TextRewriter = (text: string, path: string) => string

// Deeper than any real message.
const MAX_DEPTH = 100

/** Nothing of it was changed, because it cannot be read to its end. */
export class TooDeep extends Error {}

/** The same message with each text in it rewritten, made anew by its type; itself when no text changes. */
export function rewriteMessage(message: Message, rewrite: TextRewriter): Message {
  return rewriteValue(message, rewrite, "", 0) as Message
}

function rewriteValue(value: unknown, rewrite: TextRewriter, path: string, depth: number): unknown {
  if (typeof value === "string") return rewrite(value, path)
  if (typeof value !== "object" || value === null) return value
  if (depth > MAX_DEPTH) throw new TooDeep()
  if (Array.isArray(value)) {
    const items = value.map((item, index) => rewriteValue(item, rewrite, `${path}[${index}]`, depth + 1))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (isMessage(value)) {
    const fields = rewriteFields(value, rewrite, path, depth)
    return fields === undefined ? value : messageTypeOf(value)?.parse(fields)
  }
  return isPlainObject(value) ? (rewriteFields(value, rewrite, path, depth) ?? value) : value
}

function rewriteFields(
  value: object,
  rewrite: TextRewriter,
  path: string,
  depth: number,
): object | undefined {
  const before = Object.entries(value)
  // The bytes of a picture are no text.
  if ("type" in value && value.type === "Image") return undefined
  const after = before.map(([key, item]): [string, unknown] => [
    key,
    rewriteValue(item, rewrite, path === "" ? key : `${path}.${key}`, depth + 1),
  ])
  return after.every(([, item], index) => item === before[index]?.[1]) ? undefined : Object.fromEntries(after)
}
