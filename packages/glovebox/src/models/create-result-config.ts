import { z } from "zod"
import { type CreateResult, FINISH_REASONS } from "./create-result.ts"
import { functionCallConfigSchema } from "./llm-message-config.ts"

const topLogprobSchema = z.object({
  // AutoGen leaves it out.
  token: z.string().default(""),
  logprob: z.number(),
  bytes: z.array(z.int()).nullish(),
})

/** A model's answer, or a part of one, as AutoGen writes it into a component's data. */
export const createResultConfigSchema = z.strictObject({
  finish_reason: z.enum(FINISH_REASONS).optional(),
  content: z.union([z.string(), z.array(functionCallConfigSchema)]).optional(),
  usage: z
    .object({ prompt_tokens: z.int().nonnegative(), completion_tokens: z.int().nonnegative() })
    .optional(),
  cached: z.boolean().optional(),
  logprobs: z
    .array(topLogprobSchema.extend({ token: z.string(), top_logprobs: z.array(topLogprobSchema).nullish() }))
    .nullish(),
  thought: z.string().nullish(),
  thought_signature: z.string().nullish(),
})

export type CreateResultConfig = z.input<typeof createResultConfigSchema>

export function createResultFromConfig(
  config: z.output<typeof createResultConfigSchema>,
): Partial<CreateResult> {
  const { finish_reason, usage, logprobs, thought_signature, ...same } = config
  return withoutGaps({
    ...same,
    finishReason: finish_reason,
    usage: usage && { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens },
    logprobs: logprobs?.map(({ token, logprob, bytes, top_logprobs: top }) =>
      withoutGaps({ token, logprob, bytes, topLogprobs: top?.map((one) => withoutGaps(one)) }),
    ),
    thoughtSignature: thought_signature,
  }) as Partial<CreateResult>
}

export function createResultToConfig(result: Partial<CreateResult>): CreateResultConfig {
  const { finishReason, content, usage, cached, logprobs, thought, thoughtSignature } = result
  return {
    finish_reason: finishReason,
    content: typeof content === "object" ? [...content] : content,
    usage: usage && { prompt_tokens: usage.promptTokens, completion_tokens: usage.completionTokens },
    cached,
    logprobs: logprobs?.map(({ token, logprob, bytes, topLogprobs }) => ({
      token,
      logprob,
      bytes: bytes && [...bytes],
      top_logprobs: topLogprobs?.map((top) => ({ ...top, bytes: top.bytes && [...top.bytes] })),
    })),
    thought,
    thought_signature: thoughtSignature,
  }
}

// A field that says nothing takes the place of what a default would say.
function withoutGaps<T extends object>(fields: T): T {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  ) as T
}
