import { z } from "zod"
import type { JsonObject } from "../../core/index.ts"
import { boundedFetch } from "../bounded-fetch.ts"
import type { CountOptions, TokenCount } from "../chat-completion-client.ts"
import type { CreateResult } from "../create-result.ts"
import { estimateTokens } from "../estimate-tokens.ts"
import type { LLMMessage } from "../messages.ts"
import type { ModelBackend } from "../model-backend.ts"
import type { FailureContext, ModelFailure } from "../model-failure.ts"
import type { ModelInfo } from "../model-info.ts"
import type { ModelRequest } from "../model-request.ts"
import { retryAfterMs } from "../retry-after.ts"
import { sdkFailure } from "../sdk-failure.ts"
import { jsonLines } from "./json-lines.ts"
import { gatherAnswer } from "./ollama-answer.ts"
import type { ReadOllamaOptions } from "./ollama-options.ts"
import { toOllamaBody } from "./ollama-request.ts"

/** A status other than success, with what the server said. */
class StatusError extends Error {
  readonly response: Response

  constructor(response: Response, said: string) {
    super(said)
    this.response = response
  }
}

// Fetch instead of Ollama's package: it is one endpoint, and the package can abort only all calls together.
/** One attempt at a request to Ollama's own API. */
export class OllamaBackend implements ModelBackend {
  readonly modelInfo: ModelInfo
  readonly identity: JsonObject
  readonly context: FailureContext
  readonly #options: ReadOllamaOptions

  constructor(options: ReadOllamaOptions, identity: JsonObject) {
    const { baseURL, model, headers } = options
    this.modelInfo = options.modelInfo
    this.identity = identity
    this.context = { provider: "Ollama", endpoint: baseURL, model, secrets: () => Object.values(headers) }
    this.#options = options
  }

  async complete(request: ModelRequest, signal: AbortSignal): Promise<CreateResult> {
    const parts = this.#ask(request, false, signal)
    for (;;) {
      const part = await parts.next()
      if (part.done === true) return part.value
    }
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<string, CreateResult> {
    return yield* this.#ask(request, true, signal)
  }

  failureOf(error: unknown): ModelFailure {
    if (!(error instanceof StatusError)) return sdkFailure(error)
    const { status, headers } = error.response
    return {
      status,
      message: error.message,
      retryAfterMs: retryAfterMs(headers),
      isForeign: status === 404 && !/model/i.test(error.message),
    }
  }

  async countTokens(messages: readonly LLMMessage[], options: CountOptions): Promise<TokenCount> {
    // Each model has a tokenizer of its own, and the server does not lend it.
    return estimateTokens(messages, options)
  }

  async *#ask(
    request: ModelRequest,
    stream: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<string, CreateResult> {
    const response = await boundedFetch(`${this.#options.baseURL}/api/chat`, {
      method: "POST",
      headers: { ...this.#options.headers, "content-type": "application/json" },
      body: JSON.stringify({ ...toOllamaBody(request, this.#options), stream }),
      redirect: "manual",
      signal,
    })
    if (!response.ok) throw new StatusError(response, await said(response))
    if (!response.body) throw new SyntaxError("the answer has no body")
    const result = yield* gatherAnswer(jsonLines(response.body))
    checkChoice(request, result)
    return result
  }
}

// Ollama sends a text; servers in front of it send what OpenAI's would.
const errorBodySchema = z.object({ error: z.union([z.string(), z.object({ message: z.string() })]) })

async function said(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { error } = errorBodySchema.parse(JSON.parse(text))
    return typeof error === "string" ? error : error.message
  } catch {
    // Not Ollama's answer, but a proxy's.
  }
  return text
}

/** Ollama cannot be made to call a tool; whoever asked for it is told when it did not. */
function checkChoice({ toolChoice }: ModelRequest, { content }: CreateResult): void {
  if (toolChoice === "auto" || toolChoice === "none" || typeof content !== "string") return
  throw new SyntaxError("a tool had to be called, which Ollama cannot enforce, and the model called none")
}
