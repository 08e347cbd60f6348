import type { z } from "zod"
import { nearest } from "../internal/nearest.ts"
import { type ErrorCode, GloveboxError } from "./glovebox-error.ts"

export interface ReadOptionsHints {
  /** Names that others use, and ours for them. @default {} */
  readonly otherNames?: Readonly<Record<string, string>> | undefined
  /** @default "OPTION_INVALID" */
  readonly code?: ErrorCode | undefined
}

/** Checks options; the error names the option that was meant, and never shows a value. */
export function readOptions<Schema extends z.ZodObject>(
  what: string,
  schema: Schema,
  options: unknown,
  { otherNames = {}, code = "OPTION_INVALID" }: ReadOptionsHints = {},
): z.output<Schema> {
  const { data, error } = schema.safeParse(options)
  if (!error) return data
  const known = Object.keys(schema.shape)
  const problems = error.issues.flatMap((issue) => describeIssue(issue, known, otherNames))
  throw new GloveboxError(code, `The options of ${what} are not valid: ${problems.join("; ")}`)
}

function describeIssue(
  issue: z.core.$ZodIssue,
  known: readonly string[],
  otherNames: Readonly<Record<string, string>>,
): string[] {
  if (issue.code === "unrecognized_keys" && issue.path.length === 0) {
    return issue.keys.map((key) => {
      const camel = key.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
      const meant = otherNames[key] ?? (known.includes(camel) ? camel : nearest(camel, known))
      return `${key} is not an option${meant === undefined ? "" : `; did you mean ${meant}?`}`
    })
  }
  const where = issue.path.map(String).join(".")
  return [where === "" ? issue.message : `${where}: ${issue.message}`]
}
