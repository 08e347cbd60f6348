import { z } from "zod"
import { GloveboxError, type JsonObject } from "../../core/index.ts"
import { type ClientSettings, clientSettingsShape } from "../client-settings.ts"
import { readEndpoint } from "../endpoint.ts"
import { environmentKey } from "../environment-key.ts"
import { type ModelInfo, modelInfoSchema } from "../model-info.ts"
import { readOptions } from "../../core/read-options.ts"
import { apiKeySchema, headersSchema } from "../request-headers.ts"

export interface AnthropicChatCompletionClientOptions extends ClientSettings {
  readonly model: string
  /** @default the variable ANTHROPIC_API_KEY, but only for Anthropic's address or the one of ANTHROPIC_BASE_URL */
  readonly apiKey?: string | undefined
  /** @default the variable ANTHROPIC_BASE_URL, else Anthropic's own */
  readonly baseURL?: string | undefined
  /** Sent with each request; never part of a component's data. @default {} */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Needed for models whose name does not begin with "claude-". */
  readonly modelInfo?: ModelInfo | undefined
  /** The most tokens of an answer; the API wants a number. @default 4096 */
  readonly maxTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly stopSequences?: readonly string[] | undefined
  /** How the model thinks, as the API takes it: { type: "enabled", budget_tokens: 2048 }. */
  readonly thinking?: JsonObject | undefined
  /** Whether the model may call several tools at once. @default true */
  readonly parallelToolCalls?: boolean | undefined
  /** Any other fields of the request, in the API's own names. @default {} */
  readonly extraCreateArgs?: JsonObject | undefined
}

const jsonObject = z.record(z.string(), z.json())

const optionsSchema = z.strictObject({
  model: z.string().min(1),
  apiKey: apiKeySchema,
  baseURL: z.string().optional(),
  headers: headersSchema,
  modelInfo: modelInfoSchema.optional(),
  maxTokens: z.int().positive().default(4096),
  temperature: z.number().min(0).max(1).optional(),
  topP: z.number().min(0).max(1).optional(),
  stopSequences: z.array(z.string()).optional(),
  thinking: jsonObject.optional(),
  parallelToolCalls: z.boolean().default(true),
  extraCreateArgs: jsonObject.default({}),
  ...clientSettingsShape,
})

const ANTHROPIC = "https://api.anthropic.com"

export type ReadAnthropicOptions = z.output<typeof optionsSchema> & { readonly baseURL: string }

/** Checks the options, and takes from the environment what they leave out. */
export function readAnthropicOptions(
  options: AnthropicChatCompletionClientOptions,
  env: NodeJS.ProcessEnv = process.env,
): ReadAnthropicOptions {
  const read = readOptions("AnthropicChatCompletionClient", optionsSchema, options)
  const usual = readEndpoint(env["ANTHROPIC_BASE_URL"] || ANTHROPIC, "ANTHROPIC_BASE_URL")
  const baseURL = read.baseURL === undefined ? usual : readEndpoint(read.baseURL)
  // A key from the environment is not sent to an address from somewhere else.
  const isUsual = baseURL === usual || baseURL === ANTHROPIC
  const apiKey = read.apiKey ?? (isUsual ? environmentKey(env, "ANTHROPIC_API_KEY") : undefined)
  if (apiKey === undefined && baseURL === ANTHROPIC) {
    throw new GloveboxError(
      "MODEL_KEY_MISSING",
      "Anthropic needs a key. Pass apiKey, or set ANTHROPIC_API_KEY.",
    )
  }
  return { ...read, baseURL, apiKey }
}

/** What is known of a model; for any but Claude its `modelInfo` has to be given. */
export function anthropicModelInfo(model: string, given: ModelInfo | undefined): ModelInfo {
  if (given) return given
  if (!model.startsWith("claude-")) {
    throw new GloveboxError(
      "MODEL_UNKNOWN",
      `Nothing is known of the model "${model}". Use one whose name begins with "claude-", or pass modelInfo.`,
    )
  }
  return {
    vision: true,
    functionCalling: true,
    // The API has no JSON mode without a schema.
    jsonOutput: false,
    structuredOutput: !/^claude-(?:[123]|instant|(?:opus|sonnet)-4(?:-0|-\d{8}|$))/.test(model),
    family: "claude",
    contextTokens: 200_000,
  }
}
