import { z } from "zod"

/** Code that waits for an approval: what is needed to go on with it. What was told of it is not told again. */
export const suspendedCodeSchema = z.strictObject({
  codeBlocks: z.array(z.strictObject({ code: z.string(), language: z.string() })).min(1),
  retryAttempt: z.int().nonnegative(),
})

export type SuspendedCode = z.output<typeof suspendedCodeSchema>
