import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import type { ClientSettings } from "../client-settings.ts"
import { readEndpoint } from "../endpoint.ts"
import { environmentKey } from "../environment-key.ts"
import type { ModelInfo } from "../model-info.ts"
import { readOptions } from "../../core/read-options.ts"
import { type OpenAIRequestOptions, connectionShape, requestShape } from "./openai-options.ts"

export interface AzureOpenAIChatCompletionClientOptions extends OpenAIRequestOptions, ClientSettings {
  /** The model that the deployment runs; it decides on what can be asked. */
  readonly model: string
  /** As "https://name.openai.azure.com". @default the variable AZURE_OPENAI_ENDPOINT */
  readonly azureEndpoint?: string | undefined
  /** @default the model's name */
  readonly azureDeployment?: string | undefined
  /** As "2024-10-21". @default the variable OPENAI_API_VERSION */
  readonly apiVersion?: string | undefined
  /** @default the variable AZURE_OPENAI_API_KEY, but only for Azure's addresses or the one of AZURE_OPENAI_ENDPOINT */
  readonly apiKey?: string | undefined
  /** Gives a token of Microsoft Entra for each request, instead of a key. */
  readonly azureADTokenProvider?: (() => Promise<string>) | undefined
  /** Sent with each request; never part of a component's data. @default {} */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Needed for models that are not known by name. */
  readonly modelInfo?: ModelInfo | undefined
}

const optionsSchema = z.strictObject({
  ...connectionShape,
  ...requestShape,
  azureEndpoint: z.string().optional(),
  azureDeployment: z.string().min(1).optional(),
  apiVersion: z.string().min(1).optional(),
  azureADTokenProvider: z
    .custom<() => Promise<string>>((value) => typeof value === "function", "pass a function")
    .optional(),
})

export type ReadAzureOptions = z.output<typeof optionsSchema> & {
  readonly azureEndpoint: string
  readonly azureDeployment: string
  readonly apiVersion: string
}

/** Checks the options, and takes from the environment what they leave out. */
export function readAzureOptions(
  options: AzureOpenAIChatCompletionClientOptions,
  env: NodeJS.ProcessEnv = process.env,
): ReadAzureOptions {
  const read = readOptions("AzureOpenAIChatCompletionClient", optionsSchema, options)
  const endpoint = read.azureEndpoint ?? env["AZURE_OPENAI_ENDPOINT"]
  if (!endpoint) {
    throw new GloveboxError(
      "MODEL_ENDPOINT_INVALID",
      "Azure OpenAI needs an address. Pass azureEndpoint, or set AZURE_OPENAI_ENDPOINT.",
    )
  }
  const apiVersion = read.apiVersion ?? env["OPENAI_API_VERSION"]
  if (!apiVersion) {
    throw new GloveboxError(
      "OPTION_INVALID",
      "Azure OpenAI needs a version of its API. Pass apiVersion, or set OPENAI_API_VERSION.",
    )
  }
  const azureEndpoint = readEndpoint(endpoint, "azureEndpoint")
  const mayUseEnvironment = !read.azureADTokenProvider && isUsual(azureEndpoint, env)
  const apiKey = read.apiKey ?? (mayUseEnvironment ? environmentKey(env, "AZURE_OPENAI_API_KEY") : undefined)
  if (apiKey === undefined && !read.azureADTokenProvider) {
    throw new GloveboxError(
      "MODEL_KEY_MISSING",
      "Azure OpenAI needs a key. Pass apiKey or azureADTokenProvider, or set AZURE_OPENAI_API_KEY. " +
        "That variable is used for addresses of Azure, and for the one in AZURE_OPENAI_ENDPOINT.",
    )
  }
  return {
    ...read,
    azureEndpoint,
    azureDeployment: read.azureDeployment ?? read.model,
    apiVersion,
    apiKey,
  }
}

const AZURE =
  /^https:\/\/[\w-]+\.(?:openai|cognitiveservices|services\.ai)\.azure\.(?:com|us|cn)(?::443)?(?:\/|$)/

/** A key from the environment is not sent to an address from somewhere else. */
function isUsual(endpoint: string, env: NodeJS.ProcessEnv): boolean {
  const own = env["AZURE_OPENAI_ENDPOINT"]
  return AZURE.test(endpoint) || (!!own && readEndpoint(own, "AZURE_OPENAI_ENDPOINT") === endpoint)
}
