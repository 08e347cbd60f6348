import { GloveboxError, type JsonObject } from "../../core/index.ts"
import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"
import type { ConfigModel, Provider } from "../config/config-schema.ts"
import type { Config } from "../config/load-config.ts"
import { checkServer } from "./check-server.ts"
import { readModelName } from "./model-name.ts"
import { OllamaServer } from "./ollama-server.ts"
import { firstServedModel } from "./openai-server.ts"

/** A model, and how to reach it. */
export interface ModelChoice {
  readonly provider: Provider
  readonly name: string
  readonly baseURL?: string | undefined
  readonly apiKey?: string | undefined
  /** Of its client, as the configuration has them. */
  readonly options: JsonObject
  /** Who said that it is this one. */
  readonly because: string
}

export interface ChooseModelOptions {
  /** What --model says. */
  readonly model?: string | undefined
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
}

const DEFAULT_OPENAI = "gpt-5-mini"
const DEFAULT_ANTHROPIC = "claude-sonnet-4-5"

/** The model to ask: that of --model, else of the configuration, else what the environment has. */
export async function chooseModel(options: ChooseModelOptions): Promise<ModelChoice> {
  const { model, config } = options
  const configured = typeof config.model === "object" ? config.model : undefined
  if (model !== undefined) return named(model, "--model", configured, options)
  if (typeof config.model === "string") {
    return named(config.model, config.file ?? "the configuration", undefined, options)
  }
  if (configured) return connect(configured, config.file ?? "the configuration", options)
  return (await fromEnvironment(options)) ?? noModel(options.env)
}

async function named(
  text: string,
  because: string,
  configured: ConfigModel | undefined,
  options: ChooseModelOptions,
): Promise<ModelChoice> {
  const { name, provider: said } = readModelName(text)
  const provider = said ?? configured?.provider ?? (await guessProvider(name, options))
  // Another model of the same provider is reached in the same way.
  const same = configured?.provider === provider ? configured : undefined
  return connect({ options: {}, ...same, provider, name }, because, options)
}

async function guessProvider(name: string, { env, signal }: ChooseModelOptions): Promise<Provider> {
  if (env["OPENAI_BASE_URL"]) return "openai"
  const installed = (await new OllamaServer(env).models(signal)) ?? []
  if (installed.some((model) => model === name || model === `${name}:latest`)) return "ollama"
  throw new CommandFailure(
    `Nothing is known of a model ${JSON.stringify(name)}. Write its provider before it: openai/${name}, anthropic/${name} or ollama/${name}.`,
    { exitCode: EXIT_USAGE },
  )
}

function connect(model: ConfigModel, because: string, { config, env }: ChooseModelOptions): ModelChoice {
  const { provider, name, base_url: baseURL, api_key_env: variable, options } = model
  checkServer(model, config, env)
  const apiKey = variable === undefined ? undefined : env[variable]
  if (variable !== undefined && !apiKey) {
    throw new GloveboxError(
      "MODEL_KEY_MISSING",
      `The variable ${variable}, which ${config.file ?? "the configuration"} names for the key of ${provider}, is not set.`,
    )
  }
  return { provider, name, baseURL, apiKey, options, because }
}

async function fromEnvironment({ env, signal }: ChooseModelOptions): Promise<ModelChoice | undefined> {
  const { OPENAI_API_KEY: openaiKey, OPENAI_BASE_URL: baseURL, ANTHROPIC_API_KEY: anthropicKey } = env
  if (baseURL && !isOpenAI(baseURL)) {
    const name = await firstServedModel(baseURL, openaiKey || undefined, signal)
    if (name !== undefined) return { provider: "openai", name, options: {}, because: "OPENAI_BASE_URL" }
    throw new CommandFailure(
      "The server of OPENAI_BASE_URL does not say which models it has. Name one: --model openai/<name>.",
      { exitCode: EXIT_USAGE },
    )
  }
  if (openaiKey) return openAI()
  if (anthropicKey) {
    return { provider: "anthropic", name: DEFAULT_ANTHROPIC, options: {}, because: "ANTHROPIC_API_KEY" }
  }
  const ollama = new OllamaServer(env)
  const models = await ollama.models(signal)
  const name = models && (await ollama.firstModel(models, signal))
  return name === undefined
    ? undefined
    : { provider: "ollama", name, options: {}, because: `Ollama answers at ${ollama.url}` }
}

function openAI(): ModelChoice {
  return { provider: "openai", name: DEFAULT_OPENAI, options: {}, because: "OPENAI_API_KEY" }
}

function isOpenAI(baseURL: string): boolean {
  return URL.canParse(baseURL) && new URL(baseURL).hostname === "api.openai.com"
}

function noModel(env: NodeJS.ProcessEnv): never {
  throw new CommandFailure(
    `No model to ask. Any one of these will do:
  export OPENAI_API_KEY=...       a model of OpenAI; with OPENAI_BASE_URL, of any server that speaks its API
  export ANTHROPIC_API_KEY=...    a model of Anthropic
  ollama pull llama3.2            a model on this machine; none answers at ${new OllamaServer(env).url} yet
  glovebox.config.yaml            model: { provider: openai, name: my-model, base_url: http://localhost:8000/v1 }
To see it work with none of them: glovebox run --demo`,
    { exitCode: EXIT_USAGE },
  )
}
