import { z } from "zod"
import type { JsonObject } from "../../core/index.ts"
import { modelInfoConfigSchema, modelInfoFromConfig, modelInfoToConfig } from "../model-info-config.ts"
import { milliseconds, seconds } from "../seconds.ts"
import type { ModelInfo } from "../model-info.ts"
import type { OpenAIRequestOptions } from "./openai-options.ts"

const number = z.number().nullish()
const text = z.string().nullish()
const flag = z.boolean().nullish()

/** Fields that OpenAI's and Azure's clients share in a component's data, in AutoGen's names. */
export const sharedConfigShape = {
  model: z.string().min(1),
  /** Read, but never written. */
  api_key: text,
  model_info: modelInfoConfigSchema.nullish(),
  /** Seconds. */
  timeout: number,
  max_retries: number,
  /** Seconds, too. */
  idle_timeout: number,
  retry_delay: number,
  temperature: number,
  top_p: number,
  max_tokens: number,
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  seed: number,
  frequency_penalty: number,
  presence_penalty: number,
  reasoning_effort: text,
  parallel_tool_calls: flag,
  top_logprobs: number,
  extra_create_args: z.record(z.string(), z.json()).nullish(),
  include_usage: flag,
  include_name_in_message: flag,
  add_name_prefixes: flag,
}

type SharedConfig = z.output<z.ZodObject<typeof sharedConfigShape>>

interface SharedOptions extends OpenAIRequestOptions {
  readonly model: string
  readonly apiKey?: string | undefined
  readonly modelInfo?: ModelInfo | undefined
  readonly timeoutMs?: number | undefined
  readonly maxRetries?: number | undefined
  readonly idleTimeoutMs?: number | undefined
  readonly retryDelayMs?: number | undefined
}

/** The options that a component's data stands for. */
export function optionsFromConfig(config: SharedConfig): SharedOptions {
  return {
    model: config.model,
    // AutoGen writes stars where a key was.
    apiKey: config.api_key && !/^\*+$/.test(config.api_key) ? config.api_key : undefined,
    modelInfo: config.model_info ? modelInfoFromConfig(config.model_info) : undefined,
    timeoutMs: milliseconds(config.timeout),
    idleTimeoutMs: milliseconds(config.idle_timeout),
    retryDelayMs: milliseconds(config.retry_delay),
    maxRetries: config.max_retries ?? undefined,
    temperature: config.temperature ?? undefined,
    topP: config.top_p ?? undefined,
    maxTokens: config.max_tokens ?? undefined,
    stop: config.stop ?? undefined,
    seed: config.seed ?? undefined,
    frequencyPenalty: config.frequency_penalty ?? undefined,
    presencePenalty: config.presence_penalty ?? undefined,
    reasoningEffort: config.reasoning_effort ?? undefined,
    parallelToolCalls: config.parallel_tool_calls ?? undefined,
    topLogprobs: config.top_logprobs ?? undefined,
    extraCreateArgs: (config.extra_create_args as JsonObject | null | undefined) ?? undefined,
    includeUsage: config.include_usage ?? undefined,
    includeNameInMessage: config.include_name_in_message ?? undefined,
    addNamePrefixes: config.add_name_prefixes ?? undefined,
  }
}

/** The data of a component: all options but the key and the headers, which may hold one. */
export function configFromOptions(options: SharedOptions): z.input<z.ZodObject<typeof sharedConfigShape>> {
  return {
    model: options.model,
    model_info: options.modelInfo ? modelInfoToConfig(options.modelInfo) : undefined,
    timeout: seconds(options.timeoutMs),
    idle_timeout: seconds(options.idleTimeoutMs),
    retry_delay: seconds(options.retryDelayMs),
    max_retries: options.maxRetries,
    ...requestConfig(options),
    include_usage: options.includeUsage,
  }
}

/** The part that decides on answers, in the API's names. */
export function requestConfig(options: OpenAIRequestOptions): Record<string, JsonObject[string] | undefined> {
  return {
    temperature: options.temperature,
    top_p: options.topP,
    max_tokens: options.maxTokens,
    stop: options.stop,
    seed: options.seed,
    frequency_penalty: options.frequencyPenalty,
    presence_penalty: options.presencePenalty,
    reasoning_effort: options.reasoningEffort,
    parallel_tool_calls: options.parallelToolCalls,
    top_logprobs: options.topLogprobs,
    extra_create_args: options.extraCreateArgs,
    include_name_in_message: options.includeNameInMessage,
    add_name_prefixes: options.addNamePrefixes,
  }
}
