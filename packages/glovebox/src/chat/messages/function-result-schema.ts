import { z } from "zod"
import type { FunctionExecutionResult } from "../../models/index.ts"

export const functionResultSchema: z.ZodType<FunctionExecutionResult, FunctionExecutionResult> = z.object({
  callId: z.string(),
  name: z.string(),
  content: z.string(),
  isError: z.boolean().optional(),
})
