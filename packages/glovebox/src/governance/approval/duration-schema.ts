import { z } from "zod"
import { parseDuration } from "../../policy/index.ts"

/** "15m", or milliseconds; some time at least. */
export const durationSchema = z.union([z.string(), z.number()]).transform((value, context) => {
  const ms = parseDuration(value)
  if (ms !== undefined && ms > 0) return ms
  context.addIssue({ code: "custom", message: `is no time such as "15m", nor milliseconds` })
  return z.NEVER
})
