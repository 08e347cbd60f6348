import type { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import { nearest } from "../../internal/nearest.ts"

/** Checks an executor's options; the error names the option that was meant. */
export function readOptions<Schema extends z.ZodObject>(
  schema: Schema,
  options: unknown,
  otherNames: Readonly<Record<string, string>> = {},
): z.output<Schema> {
  const { data, error } = schema.safeParse(options)
  if (!error) return data
  throw new GloveboxError(
    "OPTION_INVALID",
    `The executor's options are not valid: ${describeIssues(error.issues, Object.keys(schema.shape), otherNames)}`,
  )
}

function describeIssues(
  issues: readonly z.core.$ZodIssue[],
  known: readonly string[],
  otherNames: Readonly<Record<string, string>>,
): string {
  return issues
    .flatMap((issue) => {
      if (issue.code === "unrecognized_keys" && issue.path.length === 0) {
        return issue.keys.map((key) => {
          const camel = key.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
          const meant = otherNames[key] ?? (known.includes(camel) ? camel : nearest(camel, known))
          return `${key} is not an option${meant === undefined ? "" : `; did you mean ${meant}?`}`
        })
      }
      const where = issue.path.map(String).join(".")
      return [where === "" ? issue.message : `${where}: ${issue.message}`]
    })
    .join("; ")
}
