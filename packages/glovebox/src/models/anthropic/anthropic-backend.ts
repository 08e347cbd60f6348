import type Anthropic from "@anthropic-ai/sdk"
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
import { sdkFailure } from "../sdk-failure.ts"
import { withoutEnvironment } from "../without-environment.ts"
import { loadPackage } from "../../core/load-package.ts"
import { readMessage } from "./anthropic-answer.ts"
import type { ReadAnthropicOptions } from "./anthropic-options.ts"
import { toAnthropicBody } from "./anthropic-request.ts"
import { gatherEvents } from "./anthropic-stream.ts"

/** One attempt at a request, by Anthropic's library. */
export class AnthropicBackend implements ModelBackend {
  readonly modelInfo: ModelInfo
  readonly identity: JsonObject
  readonly context: FailureContext
  readonly #options: ReadAnthropicOptions
  #client: Promise<Anthropic> | undefined

  constructor(options: ReadAnthropicOptions, modelInfo: ModelInfo, identity: JsonObject) {
    const { baseURL, model, apiKey, headers } = options
    this.modelInfo = modelInfo
    this.identity = identity
    this.context = {
      provider: baseURL.startsWith("https://api.anthropic.com") ? "Anthropic" : "The server",
      endpoint: baseURL,
      model,
      secrets: () => [apiKey ?? "", ...Object.values(headers)],
    }
    this.#options = options
  }

  async complete(request: ModelRequest, signal: AbortSignal): Promise<CreateResult> {
    const body = toAnthropicBody(request, this.#options)
    const client = await (this.#client ??= this.#connect())
    const answer: unknown = await client.messages.create({ ...body, stream: false }, { signal })
    return readMessage(answer)
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<string, CreateResult> {
    const body = toAnthropicBody(request, this.#options)
    const client = await (this.#client ??= this.#connect())
    const events = await client.messages.create({ ...body, stream: true }, { signal })
    return yield* gatherEvents(events)
  }

  failureOf(error: unknown): ModelFailure {
    return sdkFailure(error)
  }

  async countTokens(messages: readonly LLMMessage[], options: CountOptions): Promise<TokenCount> {
    // Anthropic publishes no tokenizer.
    return estimateTokens(messages, options)
  }

  async #connect(): Promise<Anthropic> {
    const library = await loadPackage(
      "@anthropic-ai/sdk",
      "This model client",
      () => import("@anthropic-ai/sdk"),
    )
    const { baseURL, apiKey, headers } = this.#options
    const make = (): Anthropic =>
      new library.Anthropic({
        baseURL,
        // Given in any case, so that the library looks for no key of its own.
        apiKey: apiKey ?? "none",
        maxRetries: 0,
        // The client's own deadline comes first.
        timeout: 2_147_483_647,
        // It would print what it cannot read.
        logLevel: "off",
        // The key was given for this address, and for no other.
        fetchOptions: { redirect: "manual" },
        defaultHeaders: { ...(apiKey === undefined ? { Authorization: null } : {}), ...headers },
        fetch: boundedFetch,
      })
    return withoutEnvironment(/^ANTHROPIC_/, make)
  }
}
