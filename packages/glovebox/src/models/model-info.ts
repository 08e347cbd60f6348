import { z } from "zod"

/** What a model can do; a request that it cannot take is refused before it is sent. */
export interface ModelInfo {
  /** It takes images. */
  readonly vision: boolean
  /** It calls tools. */
  readonly functionCalling: boolean
  /** It can be told to answer in JSON. */
  readonly jsonOutput: boolean
  /** It can be told to keep to a JSON Schema. */
  readonly structuredOutput: boolean
  /** Decides on details of the request: "gpt-5", "claude", "llama", "r1", ... or "unknown". */
  readonly family: string
  /** It takes system messages anywhere; otherwise they must stand together, and are sent as one. @default false */
  readonly multipleSystemMessages?: boolean | undefined
  /** How many tokens a request and its answer may have together. */
  readonly contextTokens?: number | undefined
}

export const modelInfoSchema: z.ZodType<ModelInfo> = z.strictObject({
  vision: z.boolean(),
  functionCalling: z.boolean(),
  jsonOutput: z.boolean(),
  structuredOutput: z.boolean(),
  family: z.string().min(1),
  multipleSystemMessages: z.boolean().optional(),
  contextTokens: z.int().positive().optional(),
})
