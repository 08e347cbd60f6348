import { z } from "zod"
import { type FunctionCall, functionCallSchema } from "./messages.ts"

export const FINISH_REASONS = ["stop", "length", "function_calls", "content_filter", "unknown"] as const

/** Why the model stopped. */
export type FinishReason = (typeof FINISH_REASONS)[number]

export interface RequestUsage {
  readonly promptTokens: number
  readonly completionTokens: number
}

export interface TopLogprob {
  readonly token: string
  readonly logprob: number
  readonly bytes?: readonly number[] | undefined
}

export interface TokenLogprob extends TopLogprob {
  readonly topLogprobs?: readonly TopLogprob[] | undefined
}

/** A model's answer. */
export interface CreateResult {
  readonly finishReason: FinishReason
  /** Its text, or the tools it wants called. */
  readonly content: string | readonly FunctionCall[]
  /** Zero where the provider told nothing. */
  readonly usage: RequestUsage
  /** True when the answer was stored before and no model was asked. */
  readonly cached: boolean
  readonly logprobs?: readonly TokenLogprob[] | undefined
  /** Its reasoning, or the text it wrote beside its calls. */
  readonly thought?: string | undefined
  /** What the provider signed its reasoning with; some want it back with the reasoning. */
  readonly thoughtSignature?: string | undefined
}

const topLogprobSchema = z.object({
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()).optional(),
})

/** Reads results that come from outside, such as from a cache. */
export const createResultSchema: z.ZodType<CreateResult> = z.object({
  finishReason: z.enum(FINISH_REASONS),
  content: z.union([z.string(), z.array(functionCallSchema)]),
  usage: z.object({ promptTokens: z.int().nonnegative(), completionTokens: z.int().nonnegative() }),
  cached: z.boolean(),
  logprobs: z
    .array(topLogprobSchema.extend({ topLogprobs: z.array(topLogprobSchema).optional() }))
    .optional(),
  thought: z.string().optional(),
  thoughtSignature: z.string().optional(),
})
