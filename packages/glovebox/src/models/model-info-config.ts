import { z } from "zod"
import type { ModelInfo } from "./model-info.ts"

/** What a model can do as AutoGen writes it into a component's data. */
export const modelInfoConfigSchema = z.object({
  vision: z.boolean(),
  function_calling: z.boolean(),
  json_output: z.boolean(),
  structured_output: z.boolean().default(false),
  family: z.string().min(1),
  multiple_system_messages: z.boolean().nullish(),
  context_tokens: z.int().positive().nullish(),
})

export type ModelInfoConfig = z.input<typeof modelInfoConfigSchema>

export function modelInfoFromConfig(config: z.output<typeof modelInfoConfigSchema>): ModelInfo {
  return {
    vision: config.vision,
    functionCalling: config.function_calling,
    jsonOutput: config.json_output,
    structuredOutput: config.structured_output,
    family: config.family,
    multipleSystemMessages: config.multiple_system_messages ?? undefined,
    contextTokens: config.context_tokens ?? undefined,
  }
}

export function modelInfoToConfig(info: ModelInfo): ModelInfoConfig {
  return {
    vision: info.vision,
    function_calling: info.functionCalling,
    json_output: info.jsonOutput,
    structured_output: info.structuredOutput,
    family: info.family,
    multiple_system_messages: info.multipleSystemMessages,
    context_tokens: info.contextTokens,
  }
}
