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
import { OllamaBackend } from "./ollama-backend.ts"
import {
  type OllamaChatCompletionClientOptions,
  type ReadOllamaOptions,
  readOllamaOptions,
} from "./ollama-options.ts"

/** Models that Ollama runs, by its own API. */
export class OllamaChatCompletionClient extends BackendClient implements Component {
  readonly #options: ReadOllamaOptions

  constructor(options: OllamaChatCompletionClientOptions) {
    const read = readOllamaOptions(options)
    const { model, baseURL } = read
    const identity = requestIdentity({
      provider: "ollama",
      model,
      endpoint: baseURL,
      options: requestConfig(read),
    })
    super(new OllamaBackend(read, identity), read)
    this.#options = read
  }

  /** Everything but the headers, which may hold a key. */
  toComponent(): ComponentModel {
    const { model, baseURL, modelInfo, keepAlive, timeoutMs, maxRetries, idleTimeoutMs, retryDelayMs } =
      this.#options
    return ollamaChatCompletionClientComponent.dump({
      model,
      host: baseURL,
      model_info: modelInfoToConfig(modelInfo),
      timeout: seconds(timeoutMs),
      idle_timeout: seconds(idleTimeoutMs),
      retry_delay: seconds(retryDelayMs),
      max_retries: maxRetries,
      keep_alive: keepAlive,
      ...requestConfig(this.#options),
    })
  }
}

function requestConfig({
  options,
  think,
}: ReadOllamaOptions): Record<string, JsonObject[string] | undefined> {
  return { options, think }
}

const configSchema = z.object({
  model: z.string().min(1),
  host: z.string().nullish(),
  model_info: modelInfoConfigSchema.nullish(),
  /** Seconds. */
  timeout: z.number().nullish(),
  idle_timeout: z.number().nullish(),
  retry_delay: z.number().nullish(),
  max_retries: z.number().nullish(),
  keep_alive: z.union([z.string(), z.number()]).nullish(),
  options: z.record(z.string(), z.json()).nullish(),
  think: z.union([z.boolean(), z.enum(["low", "medium", "high"])]).nullish(),
})

/** Makes the client from a component's data, also from data that AutoGen wrote. */
export const ollamaChatCompletionClientComponent: ComponentDefinition<
  z.input<typeof configSchema>,
  OllamaChatCompletionClient
> = defineComponent({
  provider: "glovebox.models.OllamaChatCompletionClient",
  aliases: ["autogen_ext.models.ollama.OllamaChatCompletionClient", "ollama_chat_completion_client"],
  type: "model",
  config: configSchema,
  create: (config) =>
    new OllamaChatCompletionClient({
      model: config.model,
      baseURL: config.host ?? undefined,
      modelInfo: config.model_info ? modelInfoFromConfig(config.model_info) : undefined,
      timeoutMs: milliseconds(config.timeout),
      idleTimeoutMs: milliseconds(config.idle_timeout),
      retryDelayMs: milliseconds(config.retry_delay),
      maxRetries: config.max_retries ?? undefined,
      keepAlive: config.keep_alive ?? undefined,
      options: (config.options as JsonObject | null) ?? undefined,
      think: config.think ?? undefined,
    }),
})
