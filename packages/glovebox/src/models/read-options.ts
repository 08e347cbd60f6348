import type { z } from "zod"
import { GloveboxError } from "../core/index.ts"
import { nearest } from "../internal/nearest.ts"

/** Checks a client's options; the error names the option that was meant, and never shows a value. */
export function readOptions<Schema extends z.ZodObject>(
  schema: Schema,
  options: unknown,
  what: string,
): z.output<Schema> {
  const { data, error } = schema.safeParse(options)
  if (!error) return data
  const known = Object.keys(schema.shape)
  const problems = error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys" && issue.path.length === 0) {
      return issue.keys.map((key) => {
        const meant = nearest(key.replace(/_/g, ""), known)
        return `${key} is not an option${meant === undefined ? "" : `; did you mean ${meant}?`}`
      })
    }
    const where = issue.path.map(String).join(".")
    return [where === "" ? issue.message : `${where}: ${issue.message}`]
  })
  throw new GloveboxError("OPTION_INVALID", `The options of ${what} are not valid: ${problems.join("; ")}`)
}
