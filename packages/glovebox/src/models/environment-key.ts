import { GloveboxError } from "../core/index.ts"
import { apiKeySchema } from "./request-headers.ts"

/** The key that a variable holds, if it is set. */
export function environmentKey(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const { data, error } = apiKeySchema.safeParse(env[name])
  if (!error) return data
  throw new GloveboxError(
    "OPTION_INVALID",
    `The variable ${name} is no key: ${error.issues[0]?.message ?? ""}`,
  )
}
