import type { JsonObject, JsonValue } from "../core/index.ts"

/** What decides on a client's answers besides the messages; unset options are left out. */
export function requestIdentity(parts: {
  readonly provider: string
  readonly model: string
  readonly endpoint: string
  readonly options: Readonly<Record<string, JsonValue | undefined>>
}): JsonObject {
  const set = Object.entries(parts.options).filter(([, value]) => value !== undefined)
  return { ...parts, options: Object.fromEntries(set) as JsonObject }
}
