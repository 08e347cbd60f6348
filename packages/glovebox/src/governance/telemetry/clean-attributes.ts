import type { Attributes, AttributeValue } from "@opentelemetry/api"
import { attempt } from "./attempt.ts"

// They look as random as a secret, and a model makes none of them up.
const FINGERPRINTS = /sha256$|^container\.|^glovebox\.(?:approval|run)\.id$/

/** Attributes without secrets: a name that somebody made up may be one. What cannot be looked at is left out. */
export function cleanAttributes(attributes: Attributes, redact: (text: string) => string): Attributes {
  const clean = Object.entries(attributes).map(([key, value]): [string, AttributeValue | undefined] => [
    key,
    FINGERPRINTS.test(key) ? value : attempt(() => cleanValue(value, redact)),
  ])
  return Object.fromEntries(clean)
}

function cleanValue(
  value: AttributeValue | undefined,
  redact: (text: string) => string,
): AttributeValue | undefined {
  if (typeof value === "string") return redact(value)
  if (!Array.isArray(value)) return value
  return value.map((item) => (typeof item === "string" ? redact(item) : item)) as AttributeValue
}
