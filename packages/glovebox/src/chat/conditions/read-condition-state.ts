import type { z } from "zod"
import { GloveboxError, type JsonObject } from "../../core/index.ts"
import { formatIssues } from "../../internal/format-issues.ts"

/** Checks what a condition is to go on from; a state of another condition is refused. */
export function readConditionState<Schema extends z.ZodType>(
  condition: object,
  schema: Schema,
  state: JsonObject,
): z.output<Schema> {
  const { data, error } = schema.safeParse(state)
  if (!error) return data
  throw new GloveboxError(
    "STATE_INVALID",
    `This is no state of ${condition.constructor.name}: ${formatIssues(error.issues)}`,
  )
}
