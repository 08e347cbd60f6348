import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  type JsonObject,
  defineComponent,
} from "../../core/index.ts"
import { BackendClient } from "../backend-client.ts"
import { modelInfoConfigSchema, modelInfoFromConfig, modelInfoToConfig } from "../model-info-config.ts"
import { requestIdentity } from "../request-identity.ts"
import { milliseconds, seconds } from "../seconds.ts"
import { AnthropicBackend } from "./anthropic-backend.ts"
import {
  type AnthropicChatCompletionClientOptions,
  type ReadAnthropicOptions,
  anthropicModelInfo,
  readAnthropicOptions,
} from "./anthropic-options.ts"

/** Models of Anthropic, and of servers that speak its messages API. */
export class AnthropicChatCompletionClient extends BackendClient implements Component {
  readonly #options: ReadAnthropicOptions

  constructor(options: AnthropicChatCompletionClientOptions) {
    const read = readAnthropicOptions(options)
    const { model, baseURL } = read
    const identity = requestIdentity({
      provider: "anthropic",
      model,
      endpoint: baseURL,
      options: requestConfig(read),
    })
    super(new AnthropicBackend(read, anthropicModelInfo(model, read.modelInfo), identity), read)
    this.#options = read
  }

  /** Everything but the key and the headers: loaded again, it takes them from the environment. */
  toComponent(): ComponentModel {
    const { model, baseURL, modelInfo, timeoutMs, maxRetries, idleTimeoutMs, retryDelayMs } = this.#options
    return anthropicChatCompletionClientComponent.dump({
      model,
      base_url: baseURL,
      model_info: modelInfo ? modelInfoToConfig(modelInfo) : undefined,
      timeout: seconds(timeoutMs),
      idle_timeout: seconds(idleTimeoutMs),
      retry_delay: seconds(retryDelayMs),
      max_retries: maxRetries,
      ...requestConfig(this.#options),
    })
  }
}

function requestConfig(options: ReadAnthropicOptions): Record<string, JsonObject[string] | undefined> {
  return {
    max_tokens: options.maxTokens,
    temperature: options.temperature,
    top_p: options.topP,
    stop_sequences: options.stopSequences,
    thinking: options.thinking,
    parallel_tool_calls: options.parallelToolCalls,
    extra_create_args: options.extraCreateArgs,
  }
}

const number = z.number().nullish()
const jsonObject = z.record(z.string(), z.json()).nullish()

const configSchema = z.object({
  model: z.string().min(1),
  /** Read, but never written. */
  api_key: z.string().nullish(),
  base_url: z.string().nullish(),
  model_info: modelInfoConfigSchema.nullish(),
  /** Seconds. */
  timeout: number,
  idle_timeout: number,
  retry_delay: number,
  max_retries: number,
  max_tokens: number,
  temperature: number,
  top_p: number,
  stop_sequences: z.array(z.string()).nullish(),
  thinking: jsonObject,
  parallel_tool_calls: z.boolean().nullish(),
  extra_create_args: jsonObject,
})

/** Makes the client from a component's data, also from data that AutoGen wrote. */
export const anthropicChatCompletionClientComponent: ComponentDefinition<
  z.input<typeof configSchema>,
  AnthropicChatCompletionClient
> = defineComponent({
  provider: "glovebox.models.AnthropicChatCompletionClient",
  aliases: ["autogen_ext.models.anthropic.AnthropicChatCompletionClient"],
  type: "model",
  config: configSchema,
  create: (config) =>
    new AnthropicChatCompletionClient({
      model: config.model,
      // AutoGen writes stars where a key was.
      apiKey: config.api_key && !/^\*+$/.test(config.api_key) ? config.api_key : undefined,
      baseURL: config.base_url ?? undefined,
      modelInfo: config.model_info ? modelInfoFromConfig(config.model_info) : undefined,
      timeoutMs: milliseconds(config.timeout),
      idleTimeoutMs: milliseconds(config.idle_timeout),
      retryDelayMs: milliseconds(config.retry_delay),
      maxRetries: config.max_retries ?? undefined,
      maxTokens: config.max_tokens ?? undefined,
      temperature: config.temperature ?? undefined,
      topP: config.top_p ?? undefined,
      stopSequences: config.stop_sequences ?? undefined,
      thinking: (config.thinking as JsonObject | null) ?? undefined,
      parallelToolCalls: config.parallel_tool_calls ?? undefined,
      extraCreateArgs: (config.extra_create_args as JsonObject | null) ?? undefined,
    }),
})
