import type { OpenAI } from "openai"
import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  defineComponent,
} from "../../core/index.ts"
import { BackendClient } from "../backend-client.ts"
import { requestIdentity } from "../request-identity.ts"
import { OpenAIBackend } from "./openai-backend.ts"
import { configFromOptions, optionsFromConfig, requestConfig, sharedConfigShape } from "./openai-component.ts"
import { LIBRARY_OPTIONS, isolated, loadOpenAI } from "./openai-library.ts"
import { openAIModelInfo } from "./openai-models.ts"
import {
  type OpenAIChatCompletionClientOptions,
  type ReadOpenAIOptions,
  readOpenAIOptions,
} from "./openai-options.ts"

/** Models of OpenAI, and of any server that speaks its chat API: Ollama, llama.cpp, vLLM, LM Studio, ... */
export class OpenAIChatCompletionClient extends BackendClient implements Component {
  readonly #options: ReadOpenAIOptions

  constructor(options: OpenAIChatCompletionClientOptions) {
    const read = readOpenAIOptions(options)
    const { model, baseURL, apiKey, headers } = read
    super(
      new OpenAIBackend({
        modelInfo: openAIModelInfo(model, read.modelInfo),
        identity: requestIdentity({
          provider: "openai",
          model,
          endpoint: baseURL,
          options: requestConfig(read),
        }),
        context: {
          provider: baseURL.startsWith("https://api.openai.com") ? "OpenAI" : "The server",
          endpoint: baseURL,
          model,
          secrets: () => [apiKey ?? "", ...Object.values(headers)],
        },
        settings: read,
        connect: async () => {
          const library = await loadOpenAI()
          const make = (): OpenAI =>
            new library.OpenAI({
              ...LIBRARY_OPTIONS,
              baseURL,
              apiKey: apiKey ?? "none",
              organization: read.organization ?? null,
              project: read.project ?? null,
              // The library wants a key; a server that needs none gets none.
              defaultHeaders: { ...(apiKey === undefined ? { Authorization: null } : {}), ...headers },
            })
          return isolated(make)
        },
      }),
      read,
    )
    this.#options = read
  }

  /** Everything but the key and the headers: loaded again, it takes them from the environment. */
  toComponent(): ComponentModel {
    const { baseURL, organization, project } = this.#options
    return openAIChatCompletionClientComponent.dump({
      ...configFromOptions(this.#options),
      base_url: baseURL,
      organization,
      project,
    })
  }
}

const configSchema = z.object({
  ...sharedConfigShape,
  base_url: z.string().nullish(),
  organization: z.string().nullish(),
  project: z.string().nullish(),
})

/** Makes the client from a component's data, also from data that AutoGen wrote. */
export const openAIChatCompletionClientComponent: ComponentDefinition<
  z.input<typeof configSchema>,
  OpenAIChatCompletionClient
> = defineComponent({
  provider: "glovebox.models.OpenAIChatCompletionClient",
  aliases: ["autogen_ext.models.openai.OpenAIChatCompletionClient", "openai_chat_completion_client"],
  type: "model",
  config: configSchema,
  create: ({ base_url: baseURL, organization, project, ...config }) =>
    new OpenAIChatCompletionClient({
      ...optionsFromConfig(config),
      baseURL: baseURL ?? undefined,
      organization: organization ?? undefined,
      project: project ?? undefined,
    }),
})
