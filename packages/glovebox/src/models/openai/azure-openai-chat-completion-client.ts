import type { AzureOpenAI } from "openai"
import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  defineComponent,
} from "../../core/index.ts"
import { BackendClient } from "../backend-client.ts"
import { requestIdentity } from "../request-identity.ts"
import {
  type AzureOpenAIChatCompletionClientOptions,
  type ReadAzureOptions,
  readAzureOptions,
} from "./azure-options.ts"
import { OpenAIBackend } from "./openai-backend.ts"
import { configFromOptions, optionsFromConfig, requestConfig, sharedConfigShape } from "./openai-component.ts"
import { LIBRARY_OPTIONS, isolated, loadOpenAI } from "./openai-library.ts"
import { openAIModelInfo } from "./openai-models.ts"
import { TokenSource } from "./token-source.ts"

/** Models that Azure runs as deployments. */
export class AzureOpenAIChatCompletionClient extends BackendClient implements Component {
  readonly #options: ReadAzureOptions

  constructor(options: AzureOpenAIChatCompletionClientOptions) {
    const read = readAzureOptions(options)
    const { model, azureEndpoint, azureDeployment, apiVersion, apiKey } = read
    const tokens = read.azureADTokenProvider ? new TokenSource(read.azureADTokenProvider) : undefined
    super(
      new OpenAIBackend({
        modelInfo: openAIModelInfo(model, read.modelInfo),
        identity: requestIdentity({
          provider: "azure-openai",
          model,
          endpoint: azureEndpoint,
          options: { ...requestConfig(read), azure_deployment: azureDeployment, api_version: apiVersion },
        }),
        context: {
          provider: "Azure OpenAI",
          endpoint: azureEndpoint,
          model: azureDeployment,
          secrets: () => [apiKey ?? "", tokens?.latest ?? "", ...Object.values(read.headers)],
        },
        settings: read,
        connect: async () => {
          const library = await loadOpenAI()
          const make = (): AzureOpenAI =>
            new library.AzureOpenAI({
              ...LIBRARY_OPTIONS,
              // The library takes either; an empty key keeps it from reading the environment.
              ...(tokens ? { azureADTokenProvider: async () => tokens.next(), apiKey: "" } : { apiKey }),
              endpoint: azureEndpoint,
              deployment: azureDeployment,
              apiVersion,
              organization: null,
              project: null,
              defaultHeaders: read.headers,
            })
          return isolated(make)
        },
      }),
      read,
    )
    this.#options = read
  }

  /** Everything but the key, the token provider and the headers. */
  toComponent(): ComponentModel {
    const { azureEndpoint, azureDeployment, apiVersion } = this.#options
    return azureOpenAIChatCompletionClientComponent.dump({
      ...configFromOptions(this.#options),
      azure_endpoint: azureEndpoint,
      azure_deployment: azureDeployment,
      api_version: apiVersion,
    })
  }
}

const configSchema = z.object({
  ...sharedConfigShape,
  azure_endpoint: z.string(),
  azure_deployment: z.string().nullish(),
  api_version: z.string(),
})

/** Makes the client from a component's data, also from data that AutoGen wrote. */
export const azureOpenAIChatCompletionClientComponent: ComponentDefinition<
  z.input<typeof configSchema>,
  AzureOpenAIChatCompletionClient
> = defineComponent({
  provider: "glovebox.models.AzureOpenAIChatCompletionClient",
  aliases: [
    "autogen_ext.models.openai.AzureOpenAIChatCompletionClient",
    "azure_openai_chat_completion_client",
  ],
  type: "model",
  config: configSchema,
  create: ({
    azure_endpoint: azureEndpoint,
    azure_deployment: azureDeployment,
    api_version: apiVersion,
    ...config
  }) =>
    new AzureOpenAIChatCompletionClient({
      ...optionsFromConfig(config),
      azureEndpoint,
      azureDeployment: azureDeployment ?? undefined,
      apiVersion,
    }),
})
