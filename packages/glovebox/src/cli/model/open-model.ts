import { GloveboxError, type JsonObject, type JsonValue } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type { ChatCompletionClient, ModelInfo } from "../../models/index.ts"
import { openAIModelInfo } from "../../models/openai/openai-models.ts"
import type { ModelChoice } from "./choose-model.ts"
import { OllamaServer } from "./ollama-server.ts"

export interface OpenModelOptions {
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
}

/** The client of a model. */
export async function openModel(
  choice: ModelChoice,
  { env, signal }: OpenModelOptions,
): Promise<ChatCompletionClient> {
  const { provider, name: model, baseURL, apiKey } = choice
  // Where it is reached is said after them, so that no option can say otherwise.
  const options = clientOptions(choice.options)
  const given = options["modelInfo"] !== undefined
  try {
    switch (provider) {
      case "openai": {
        const { OpenAIChatCompletionClient } = await import("../../models/openai/index.ts")
        const modelInfo = given ? undefined : servedModelInfo(model)
        return new OpenAIChatCompletionClient({
          ...defined({ modelInfo }),
          ...options,
          model,
          baseURL,
          apiKey,
        })
      }
      case "anthropic": {
        const { AnthropicChatCompletionClient } = await import("../../models/anthropic/index.ts")
        return new AnthropicChatCompletionClient({ ...options, model, baseURL, apiKey })
      }
      case "ollama": {
        const { OllamaChatCompletionClient } = await import("../../models/ollama/index.ts")
        const server = new OllamaServer(env, baseURL)
        const modelInfo = given ? undefined : await server.modelInfo(model, signal)
        return new OllamaChatCompletionClient({
          ...defined({ modelInfo }),
          ...options,
          model,
          baseURL: server.url,
          ...(apiKey === undefined ? {} : { headers: { Authorization: `Bearer ${apiKey}` } }),
        })
      }
      default:
        return provider satisfies never
    }
  } catch (cause) {
    if (!GloveboxError.is(cause, "OPTION_INVALID")) throw cause
    throw new GloveboxError("CONFIG_INVALID", `${choice.because}: model: ${errorMessage(cause)}`, { cause })
  }
}

const UNKNOWN: ModelInfo = {
  vision: false,
  // Every model can write code between fences; whether a server's template has tools is not to be seen from here.
  functionCalling: false,
  jsonOutput: false,
  structuredOutput: false,
  family: "unknown",
}

/** What is known of a model by its name, also one that a gateway serves as `vendor/name`. */
function servedModelInfo(model: string): ModelInfo {
  for (const name of [model, model.split("/").at(-1) ?? model]) {
    try {
      return openAIModelInfo(name, undefined)
    } catch (error) {
      if (!GloveboxError.is(error, "MODEL_UNKNOWN")) throw error
    }
  }
  return UNKNOWN
}

// The file's way of writing names, and the clients'.
function clientOptions(options: JsonObject): JsonObject {
  const named = renamed(options)
  const { modelInfo } = named
  return isObject(modelInfo) ? { ...named, modelInfo: renamed(modelInfo) } : named
}

function renamed(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
      value,
    ]),
  )
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>
}
