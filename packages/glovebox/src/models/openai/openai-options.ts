import { z } from "zod"
import { GloveboxError, type JsonObject } from "../../core/index.ts"
import { type ClientSettings, clientSettingsShape } from "../client-settings.ts"
import { readEndpoint } from "../endpoint.ts"
import { environmentKey } from "../environment-key.ts"
import { type ModelInfo, modelInfoSchema } from "../model-info.ts"
import { readOptions } from "../../core/read-options.ts"
import { apiKeySchema, headersSchema } from "../request-headers.ts"

/** What a request to an API of OpenAI's kind may be given besides its messages. */
export interface OpenAIRequestOptions {
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  /** The most tokens of an answer; sent under the name that the model's family takes. */
  readonly maxTokens?: number | undefined
  readonly stop?: string | readonly string[] | undefined
  readonly seed?: number | undefined
  readonly frequencyPenalty?: number | undefined
  readonly presencePenalty?: number | undefined
  /** How much a reasoning model thinks: "minimal", "low", "medium", "high", ... */
  readonly reasoningEffort?: string | undefined
  /** Whether the model may call several tools at once. */
  readonly parallelToolCalls?: boolean | undefined
  /** How many of the likeliest tokens come with each token; 0 gives the token's own probability. */
  readonly topLogprobs?: number | undefined
  /** Any other fields of the request, in the API's own names. @default {} */
  readonly extraCreateArgs?: JsonObject | undefined
  /** Ask for the usage in streams; switch it off for servers that refuse `stream_options`. @default true */
  readonly includeUsage?: boolean | undefined
  /** Send who spoke as the message's name. @default true, but false for Mistral's models */
  readonly includeNameInMessage?: boolean | undefined
  /** Put "<source> said:" before what users say. @default false */
  readonly addNamePrefixes?: boolean | undefined
}

export interface OpenAIChatCompletionClientOptions extends OpenAIRequestOptions, ClientSettings {
  readonly model: string
  /** @default the variable OPENAI_API_KEY, but only for OpenAI's address or the one of OPENAI_BASE_URL */
  readonly apiKey?: string | undefined
  /** Of any server that speaks this API. @default the variable OPENAI_BASE_URL, else OpenAI's own */
  readonly baseURL?: string | undefined
  readonly organization?: string | undefined
  readonly project?: string | undefined
  /** Sent with each request; never part of a component's data. @default {} */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Needed for models that are not known by name. */
  readonly modelInfo?: ModelInfo | undefined
}

const text = z.string().min(1)

export const requestShape = {
  temperature: z.number().min(0).optional(),
  topP: z.number().min(0).max(1).optional(),
  maxTokens: z.int().positive().optional(),
  stop: z.union([z.string(), z.array(z.string())]).optional(),
  seed: z.int().optional(),
  frequencyPenalty: z.number().optional(),
  presencePenalty: z.number().optional(),
  reasoningEffort: text.optional(),
  parallelToolCalls: z.boolean().optional(),
  topLogprobs: z.int().min(0).max(20).optional(),
  extraCreateArgs: z.record(z.string(), z.json()).default({}),
  includeUsage: z.boolean().default(true),
  includeNameInMessage: z.boolean().optional(),
  addNamePrefixes: z.boolean().default(false),
}

export const connectionShape = {
  model: text,
  apiKey: apiKeySchema,
  headers: headersSchema,
  modelInfo: modelInfoSchema.optional(),
  ...clientSettingsShape,
}

const optionsSchema = z.strictObject({
  ...connectionShape,
  ...requestShape,
  baseURL: z.string().optional(),
  organization: text.optional(),
  project: text.optional(),
})

const OPENAI = "https://api.openai.com/v1"

export type ReadOpenAIOptions = Omit<z.output<typeof optionsSchema>, "baseURL" | "apiKey"> & {
  readonly baseURL: string
  readonly apiKey: string | undefined
}

/** Checks the options, and takes from the environment what they leave out. */
export function readOpenAIOptions(
  options: OpenAIChatCompletionClientOptions,
  env: NodeJS.ProcessEnv = process.env,
): ReadOpenAIOptions {
  const read = readOptions("OpenAIChatCompletionClient", optionsSchema, options)
  const usual = readEndpoint(env["OPENAI_BASE_URL"] || OPENAI, "OPENAI_BASE_URL")
  const baseURL = read.baseURL === undefined ? usual : readEndpoint(read.baseURL)
  // A key from the environment is not sent to an address from somewhere else.
  const isUsual = baseURL === usual || baseURL === OPENAI
  const apiKey = read.apiKey ?? (isUsual ? environmentKey(env, "OPENAI_API_KEY") : undefined)
  if (apiKey === undefined && baseURL === OPENAI) {
    throw new GloveboxError("MODEL_KEY_MISSING", "OpenAI needs a key. Pass apiKey, or set OPENAI_API_KEY.")
  }
  return { ...read, baseURL, apiKey }
}
