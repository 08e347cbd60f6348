import type { OpenAI } from "openai"
import type { JsonObject } from "../../core/index.ts"
import type { CountOptions, TokenCount } from "../chat-completion-client.ts"
import type { CreateResult } from "../create-result.ts"
import type { LLMMessage } from "../messages.ts"
import type { ModelBackend } from "../model-backend.ts"
import type { FailureContext, ModelFailure } from "../model-failure.ts"
import type { ModelInfo } from "../model-info.ts"
import type { ModelRequest } from "../model-request.ts"
import { sdkFailure } from "../sdk-failure.ts"
import { readCompletion } from "./openai-completion.ts"
import { type RequestSettings, toOpenAIBody } from "./openai-request.ts"
import { gatherStream } from "./openai-stream.ts"
import { countOpenAITokens } from "./openai-tokens.ts"

interface OpenAIBackendOptions {
  readonly modelInfo: ModelInfo
  readonly identity: JsonObject
  readonly context: FailureContext
  readonly settings: RequestSettings
  /** Makes the library's client, when it is first needed. */
  readonly connect: () => Promise<OpenAI>
}

/** One attempt at a request, by OpenAI's library. */
export class OpenAIBackend implements ModelBackend {
  readonly modelInfo: ModelInfo
  readonly identity: JsonObject
  readonly context: FailureContext
  readonly #settings: RequestSettings
  readonly #connect: () => Promise<OpenAI>
  #client: Promise<OpenAI> | undefined

  constructor({ modelInfo, identity, context, settings, connect }: OpenAIBackendOptions) {
    this.modelInfo = modelInfo
    this.identity = identity
    this.context = context
    this.#settings = settings
    this.#connect = connect
  }

  async complete(request: ModelRequest, signal: AbortSignal): Promise<CreateResult> {
    const body = toOpenAIBody(request, this.#settings, this.modelInfo)
    const client = await (this.#client ??= this.#connect())
    const answer: unknown = await client.chat.completions.create({ ...body, stream: false }, { signal })
    return readCompletion(answer, this.modelInfo.family)
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<string, CreateResult> {
    const body = toOpenAIBody(request, this.#settings, this.modelInfo)
    const client = await (this.#client ??= this.#connect())
    const usage = this.#settings.includeUsage ? { stream_options: { include_usage: true } } : {}
    const chunks = await client.chat.completions.create({ ...usage, ...body, stream: true }, { signal })
    return yield* gatherStream(chunks, this.modelInfo.family)
  }

  failureOf(error: unknown): ModelFailure {
    return sdkFailure(error)
  }

  async countTokens(messages: readonly LLMMessage[], options: CountOptions): Promise<TokenCount> {
    return countOpenAITokens(messages, options, this.modelInfo.family)
  }
}
