import { randomUUID } from "node:crypto"
import { GloveboxError, type JsonObject } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import type {
  ChatCompletionClient,
  CountOptions,
  CreateOptions,
  TokenCount,
} from "../chat-completion-client.ts"
import { clientClosed } from "../client-closed.ts"
import { countMessageTokens } from "../count-message-tokens.ts"
import { type CreateResult, type RequestUsage, createResultSchema } from "../create-result.ts"
import type { LLMMessage } from "../messages.ts"
import type { ModelInfo } from "../model-info.ts"
import { readRequest, readTools } from "../model-request.ts"
import { UsageMeter } from "../usage-meter.ts"
import { type ReplayResponse, toResult } from "./replay-response.ts"

export interface ReplayChatCompletionClientOptions {
  /** @default everything: tests rarely are about what a model cannot do */
  readonly modelInfo?: ModelInfo | undefined
}

/** A call that was made. */
export interface ReplayCall {
  readonly messages: readonly LLMMessage[]
  readonly options: CreateOptions
}

const EVERYTHING: ModelInfo = {
  vision: true,
  functionCalling: true,
  jsonOutput: true,
  structuredOutput: true,
  multipleSystemMessages: true,
  family: "unknown",
  contextTokens: 10_000,
}

/** A model that says what it was told to say, one answer after another: for tests and demonstrations. */
export class ReplayChatCompletionClient implements ChatCompletionClient {
  readonly modelInfo: ModelInfo
  // Its own, because two of them say different things to the same messages.
  readonly identity: JsonObject = { provider: "replay", model: randomUUID() }
  readonly #responses: readonly ReplayResponse[]
  readonly #calls: ReplayCall[] = []
  #usage = new UsageMeter()
  #next = 0
  #isClosed = false

  constructor(responses: readonly ReplayResponse[], options: ReplayChatCompletionClientOptions = {}) {
    this.modelInfo = options.modelInfo ?? EVERYTHING
    this.#responses = [...responses]
  }

  /** What was asked, in order. */
  get createCalls(): readonly ReplayCall[] {
    return this.#calls
  }

  /** Begins again with the first answer, and forgets what was asked and used. */
  reset(): void {
    this.#next = 0
    this.#calls.length = 0
    this.#usage = new UsageMeter()
  }

  async create(messages: readonly LLMMessage[], options: CreateOptions = {}): Promise<CreateResult> {
    readRequest(messages, options, this.modelInfo)
    options.signal?.throwIfAborted()
    if (this.#isClosed) throw clientClosed()
    // The list may change later; what was asked does not.
    this.#calls.push({ messages: [...messages], options })
    const response = this.#responses[this.#next]
    if (response === undefined) {
      throw new GloveboxError(
        "REPLAY_EXHAUSTED",
        `All ${this.#responses.length} answers of the replay client are used. Give it more, or call reset().`,
      )
    }
    this.#next += 1
    const promptTokens = (await this.countTokens(messages, options)).tokens
    const given = toResult(response, messages, options, { promptTokens, countText })
    const result = await abortable(given, options.signal)
    options.signal?.throwIfAborted()
    const { error } = createResultSchema.safeParse(result)
    if (error)
      throw new GloveboxError(
        "MODEL_RESPONSE_INVALID",
        `Answer ${this.#next} of the replay client is no result.`,
      )
    this.#usage.add(result.usage)
    return result
  }

  async *createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): AsyncGenerator<string | CreateResult, CreateResult> {
    const result = await this.create(messages, options)
    const text = typeof result.content === "string" ? result.content : ""
    for (const word of text.match(/\S+\s*|\s+/g) ?? []) {
      yield word
      options.signal?.throwIfAborted()
    }
    yield result
    return result
  }

  async countTokens(messages: readonly LLMMessage[], options: CountOptions = {}): Promise<TokenCount> {
    const tokens = countMessageTokens(messages, readTools(options.tools ?? []), countText)
    return { tokens, tokenizer: "words" }
  }

  async remainingTokens(messages: readonly LLMMessage[], options: CountOptions = {}): Promise<number> {
    return (this.modelInfo.contextTokens ?? 10_000) - (await this.countTokens(messages, options)).tokens
  }

  actualUsage(): RequestUsage {
    return this.#usage.read()
  }

  totalUsage(): RequestUsage {
    return this.#usage.read()
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

function countText(text: string): number {
  return text.match(/\S+/g)?.length ?? 0
}
