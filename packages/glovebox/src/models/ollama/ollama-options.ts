import { z } from "zod"
import type { JsonObject } from "../../core/index.ts"
import { type ClientSettings, clientSettingsShape } from "../client-settings.ts"
import { readEndpoint } from "../endpoint.ts"
import { type ModelInfo, modelInfoSchema } from "../model-info.ts"
import { readOptions } from "../../core/read-options.ts"
import { headersSchema } from "../request-headers.ts"

export interface OllamaChatCompletionClientOptions extends ClientSettings {
  /** As "llama3.2" or "qwen3:8b". */
  readonly model: string
  /** @default the variable OLLAMA_HOST, else http://127.0.0.1:11434 */
  readonly baseURL?: string | undefined
  /** Sent with each request, such as an `Authorization`; never part of a component's data. @default {} */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** @default no images, everything else; Ollama itself refuses what a model cannot do */
  readonly modelInfo?: ModelInfo | undefined
  /** Ollama's own options: { temperature, num_ctx, num_predict, seed, stop, ... }. @default {} */
  readonly options?: JsonObject | undefined
  /** How long the model stays loaded: "5m", or seconds. */
  readonly keepAlive?: string | number | undefined
  /** Whether, or how much, the model thinks before it answers. */
  readonly think?: boolean | "low" | "medium" | "high" | undefined
}

const optionsSchema = z.strictObject({
  model: z.string().min(1),
  baseURL: z.string().optional(),
  headers: headersSchema,
  modelInfo: modelInfoSchema.optional(),
  options: z.record(z.string(), z.json()).default({}),
  keepAlive: z.union([z.string(), z.number()]).optional(),
  think: z.union([z.boolean(), z.enum(["low", "medium", "high"])]).optional(),
  ...clientSettingsShape,
})

export type ReadOllamaOptions = z.output<typeof optionsSchema> & {
  readonly baseURL: string
  readonly modelInfo: ModelInfo
}

/** Checks the options, and takes the address from the environment if they have none. */
export function readOllamaOptions(
  options: OllamaChatCompletionClientOptions,
  env: NodeJS.ProcessEnv = process.env,
): ReadOllamaOptions {
  const read = readOptions("OllamaChatCompletionClient", optionsSchema, options)
  const baseURL = read.baseURL ?? hostOf(env["OLLAMA_HOST"] || "127.0.0.1:11434")
  return { ...read, baseURL: readEndpoint(baseURL), modelInfo: read.modelInfo ?? usualInfo(read) }
}

/** Ollama's variable says where the server listens: without a scheme, and perhaps on every address. */
function hostOf(host: string): string {
  const address = host.includes("://") ? host : `http://${host.replace(/^:/, "127.0.0.1:")}`
  const here = address.replace("://0.0.0.0", "://127.0.0.1")
  const hasPort = /:\d+(?:\/|$)/.test(here.replace(/^\w+:\/\//, ""))
  return hasPort || host.includes("://") ? here : `${here.replace(/\/+$/, "")}:11434`
}

function usualInfo({
  model,
  options,
}: {
  readonly model: string
  readonly options: Record<string, unknown>
}): ModelInfo {
  const { num_ctx: contextTokens } = options
  return {
    vision: false,
    functionCalling: true,
    jsonOutput: true,
    structuredOutput: true,
    family: /^[a-z]+/.exec(model.split("/").at(-1) ?? "")?.[0] ?? "unknown",
    multipleSystemMessages: true,
    ...(typeof contextTokens === "number" ? { contextTokens } : {}),
  }
}
