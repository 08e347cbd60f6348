import type { ConfigIssue } from "./config-schema.ts"

const SECRET_NAME = /^(?:api_?key|key|token|api_?token|secret|password|authorization|headers)$/i
// How keys of providers begin; a policy's digest or a name does not look like it.
const SECRET_TEXT = /^(?:sk|pk|rk|gsk|xai|key)-[\w-]{16,}$|^Bearer\s/

/** Keys in the file itself: it is in version control, and read by others. */
export function secretsIn(value: unknown, path: readonly PropertyKey[] = []): readonly ConfigIssue[] {
  if (typeof value === "string" && SECRET_TEXT.test(value)) return [{ path, message: REFUSAL }]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, inner]): readonly ConfigIssue[] => {
    const at = [...path, name]
    // A policy has names of its own, and says itself what it takes.
    if (path[0] === "model" && SECRET_NAME.test(name)) return [{ path: at, message: REFUSAL }]
    return secretsIn(inner, at)
  })
}

const REFUSAL =
  "is a secret, and this file is no place for one: others read it. Put it into an environment variable, and name that: api_key_env: MY_KEY"
