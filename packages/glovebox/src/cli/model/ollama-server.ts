import { z } from "zod"
import { readOllamaOptions } from "../../models/ollama/ollama-options.ts"
import type { ModelInfo } from "../../models/index.ts"
import { askServer } from "./ask-server.ts"

// A server on this machine answers in a few milliseconds; nobody is to wait for one that is not there.
const PROBE_MS = 1000
const SHOW_MS = 5000

const tagsSchema = z.object({ models: z.array(z.object({ name: z.string() })) })
const showSchema = z.object({ capabilities: z.array(z.string()).optional() })

/** The Ollama that the environment or a configuration names. */
export class OllamaServer {
  readonly url: string

  constructor(env: NodeJS.ProcessEnv, baseURL?: string) {
    this.url = readOllamaOptions({ model: "any", baseURL }, env).baseURL
  }

  /** The models that are installed; undefined when no server answers. */
  async models(signal: AbortSignal): Promise<readonly string[] | undefined> {
    const tags = await askServer(`${this.url}/api/tags`, {
      schema: tagsSchema,
      timeoutMs: PROBE_MS,
      signal,
    })
    return tags?.models.map(({ name }) => name)
  }

  /** The first model that can talk: others only make vectors of texts. */
  async firstModel(models: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    for (const name of models) {
      const capabilities = await this.#capabilities(name, signal)
      if (capabilities?.includes("completion") ?? !/embed/i.test(name)) return name
    }
    return undefined
  }

  /** What the server says that a model can do; one that does not say it is not trusted with tools. */
  async modelInfo(name: string, signal: AbortSignal): Promise<ModelInfo> {
    const capabilities = (await this.#capabilities(name, signal)) ?? []
    const usual = readOllamaOptions({ model: name }, {}).modelInfo
    return {
      ...usual,
      functionCalling: capabilities.includes("tools"),
      vision: capabilities.includes("vision"),
    }
  }

  async #capabilities(model: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
    const shown = await askServer(`${this.url}/api/show`, {
      schema: showSchema,
      timeoutMs: SHOW_MS,
      signal,
      body: { model },
    })
    return shown?.capabilities
  }
}
