import { randomUUID } from "node:crypto"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  type JsonObject,
} from "../../core/index.ts"
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
import { modelInfoToConfig } from "../model-info-config.ts"
import { readRequest, readTools } from "../model-request.ts"
import { UsageMeter } from "../usage-meter.ts"
import { defineReplay, responseToConfig } from "./replay-component.ts"
import { type ReplayResponse, toResult } from "./replay-response.ts"

export interface ReplayChatCompletionClientOptions {
  /** @default everything: tests rarely are about what a model cannot do */
  readonly modelInfo?: ModelInfo | undefined
  /** Whether it begins again with the first answer when all are used. @default false */
  readonly repeat?: boolean | undefined
  /** Whether `createCalls` remembers what was asked; without end, that is much. @default true */
  readonly keepCalls?: boolean | undefined
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

const SPACE = /\s/

const component = defineReplay((responses, options) => new ReplayChatCompletionClient(responses, options))

/** A model that says what it was told to say, one answer after another: for tests and demonstrations. */
export class ReplayChatCompletionClient implements ChatCompletionClient, Component {
  /** Makes the client from a component's data, also from data that AutoGen wrote. */
  static readonly definition: ComponentDefinition<never, ReplayChatCompletionClient> = component

  readonly modelInfo: ModelInfo
  // Its own, because two of them say different things to the same messages.
  readonly identity: JsonObject = { provider: "replay", model: randomUUID() }
  readonly #responses: readonly ReplayResponse[]
  readonly #options: ReplayChatCompletionClientOptions
  readonly #calls: ReplayCall[] = []
  #usage = new UsageMeter()
  #next = 0
  #isClosed = false

  constructor(responses: readonly ReplayResponse[], options: ReplayChatCompletionClientOptions = {}) {
    this.modelInfo = options.modelInfo ?? EVERYTHING
    this.#responses = [...responses]
    this.#options = options
  }

  /** With all its answers, whatever was asked; those that are functions or errors cannot be written down. */
  toComponent(): ComponentModel {
    const { modelInfo, repeat, keepCalls } = this.#options
    return component.dump({
      chat_completions: this.#responses.map(responseToConfig),
      model_info: modelInfo && modelInfoToConfig(modelInfo),
      repeat,
      keep_calls: keepCalls,
    })
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
    if (this.#options.keepCalls !== false) this.#calls.push({ messages: [...messages], options })
    if (this.#options.repeat === true && this.#next === this.#responses.length) this.#next = 0
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

/** How many words it has. */
function countText(text: string): number {
  let words = 0
  let isInWord = false
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    // Plain characters without a look at the rest of Unicode: every request is counted.
    const isSpace = code < 127 ? code < 33 : SPACE.test(text.charAt(index))
    if (!isSpace && !isInWord) words += 1
    isInWord = !isSpace
  }
  return words
}
