import type { JsonObject, JsonValue } from "../../core/index.ts"
import type { Redactor } from "../../governance/index.ts"

/** What is kept of a conversation, without secrets: a model may say one, or write it into code. */
export function redactState(state: JsonObject, redactor: Redactor): JsonObject {
  // The bytes of a picture are no text.
  if (state["type"] === "Image") return state
  const { thought, thoughtSignature, ...rest } = state
  // A signature is of the very words: without them there is none.
  const isSigned = typeof thought === "string" && typeof thoughtSignature === "string"
  const kept = isSigned && redactor.text(thought) !== thought ? rest : state
  const fields = Object.entries(kept).map(([key, item]) => [redactor.text(key), redactItem(item, redactor)])
  return Object.fromEntries(fields) as JsonObject
}

function redactItem(item: JsonValue, redactor: Redactor): JsonValue {
  if (typeof item === "string") return redactText(item, redactor)
  if (Array.isArray(item)) return item.map((inner: JsonValue) => redactItem(inner, redactor))
  return typeof item === "object" && item !== null ? redactState(item as JsonObject, redactor) : item
}

// The arguments of a call are JSON in a text: as data first, so that they stay JSON.
function redactText(text: string, redactor: Redactor): string {
  const clean = redactor.text(text)
  if (clean === text) return text
  try {
    return JSON.stringify(redactor.value(JSON.parse(text)))
  } catch {
    return clean
  }
}
