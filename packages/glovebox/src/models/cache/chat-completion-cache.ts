import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  type JsonObject,
  type Logger,
  componentPart,
  defineComponent,
  silentLogger,
} from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import type {
  ChatCompletionClient,
  CountOptions,
  CreateOptions,
  TokenCount,
} from "../chat-completion-client.ts"
import { clientClosed } from "../client-closed.ts"
import { type CreateResult, type RequestUsage, createResultSchema } from "../create-result.ts"
import type { LLMMessage } from "../messages.ts"
import { modelClientPart } from "../model-client-part.ts"
import type { ModelInfo } from "../model-info.ts"
import { readRequest } from "../model-request.ts"
import { UsageMeter } from "../usage-meter.ts"
import { cacheKey } from "./cache-key.ts"
import type { CacheStore } from "./cache-store.ts"
import { MemoryCacheStore } from "./memory-cache-store.ts"

export interface ChatCompletionCacheOptions {
  /** @default a new MemoryCacheStore */
  readonly store?: CacheStore | undefined
  /** Is told when the store fails; the call goes on without it. @default silent */
  readonly logger?: Logger | undefined
}

const configSchema = z.object({ client: z.unknown(), store: z.unknown().optional() })
const storePart = componentPart<CacheStore>("cache store", ["get", "set"])

/** A client that asks the one behind it only what it has not been asked before. */
export class ChatCompletionCache implements ChatCompletionClient, Component {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, ChatCompletionCache> =
    defineComponent({
      provider: "glovebox.models.ChatCompletionCache",
      aliases: ["autogen_ext.models.cache.ChatCompletionCache"],
      // AutoGen's word for it, where other clients are a "model".
      type: "chat_completion_cache",
      config: configSchema,
      create: ({ client, store }, loader) =>
        new ChatCompletionCache(modelClientPart.load(client, loader), {
          store: store === undefined || store === null ? undefined : storePart.load(store, loader),
        }),
    })

  readonly #client: ChatCompletionClient
  readonly #store: CacheStore
  readonly #logger: Logger
  readonly #saved = new UsageMeter()
  #isClosed = false

  constructor(client: ChatCompletionClient, options: ChatCompletionCacheOptions = {}) {
    this.#client = client
    this.#store = options.store ?? new MemoryCacheStore()
    this.#logger = options.logger ?? silentLogger
  }

  /** With the client behind it and the kind of its store, but no answers: those on a disk are found there again. */
  toComponent(): ComponentModel {
    if (this.#logger !== silentLogger) {
      throw new GloveboxError(
        "COMPONENT_INVALID",
        "The cache's logger cannot be written down. Make the cache without it.",
      )
    }
    return ChatCompletionCache.definition.dump({
      client: modelClientPart.dump(this.#client, "client"),
      store: storePart.dump(this.#store, "store"),
    })
  }

  get modelInfo(): ModelInfo {
    return this.#client.modelInfo
  }

  get identity(): JsonObject {
    return this.#client.identity
  }

  async create(messages: readonly LLMMessage[], options: CreateOptions = {}): Promise<CreateResult> {
    const asked = this.#snapshot(messages, options)
    const known = await this.#find(asked.key, options.signal)
    if (known) return known
    const result = await this.#client.create(asked.messages, asked.options)
    await this.#keep(asked.key, result, options.signal)
    return result
  }

  /** An answer that is known comes as one piece of text; a new one is kept when its stream has ended. */
  async *createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): AsyncGenerator<string | CreateResult, CreateResult> {
    const asked = this.#snapshot(messages, options)
    const known = await this.#find(asked.key, options.signal)
    if (known) {
      if (typeof known.content === "string" && known.content !== "") yield known.content
      yield known
      return known
    }
    const stream = this.#client.createStream(asked.messages, asked.options)
    let isOver = false
    try {
      for (;;) {
        const part = await stream.next()
        if (part.done === true) {
          isOver = true
          return part.value
        }
        // Before it is passed on: whoever leaves with the result leaves it kept.
        if (typeof part.value !== "string") await this.#keep(asked.key, part.value, options.signal)
        yield part.value
      }
    } finally {
      if (!isOver) await stream.return(undefined as never)
    }
  }

  async countTokens(messages: readonly LLMMessage[], options?: CountOptions): Promise<TokenCount> {
    return this.#client.countTokens(messages, options)
  }

  async remainingTokens(messages: readonly LLMMessage[], options?: CountOptions): Promise<number> {
    return this.#client.remainingTokens(messages, options)
  }

  actualUsage(): RequestUsage {
    return this.#client.actualUsage()
  }

  totalUsage(): RequestUsage {
    const inner = this.#client.totalUsage()
    const saved = this.#saved.read()
    return {
      promptTokens: inner.promptTokens + saved.promptTokens,
      completionTokens: inner.completionTokens + saved.completionTokens,
    }
  }

  /** Closes the client behind it. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#client.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** The request as it is now: what is asked must be what the key says, though the caller's lists may change. */
  #snapshot(
    messages: readonly LLMMessage[],
    options: CreateOptions,
  ): { readonly key: string; readonly messages: readonly LLMMessage[]; readonly options: CreateOptions } {
    const request = readRequest(messages, options, this.modelInfo)
    if (this.#isClosed) throw clientClosed()
    return {
      key: cacheKey(this.identity, request),
      messages: structuredClone(request.messages),
      options: { ...options, tools: request.tools, extraCreateArgs: structuredClone(request.extra) },
    }
  }

  async #find(key: string, signal: AbortSignal | undefined): Promise<CreateResult | undefined> {
    signal?.throwIfAborted()
    let text: string | undefined
    try {
      text = await abortable(this.#store.get(key), signal)
    } catch (error) {
      signal?.throwIfAborted()
      this.#logger.warn("The model cache cannot be read", { error })
      return undefined
    }
    const result = text === undefined ? undefined : parse(text)
    if (!result) return undefined
    this.#saved.add(result.usage)
    return { ...result, cached: true }
  }

  async #keep(key: string, result: CreateResult, signal: AbortSignal | undefined): Promise<void> {
    try {
      await abortable(this.#store.set(key, JSON.stringify(result)), signal)
    } catch (error) {
      signal?.throwIfAborted()
      // The answer is there and was paid for; that it is asked for again is no reason to lose it.
      this.#logger.warn("The model cache cannot be written", { error })
    }
  }
}

/** What is kept, if it still is a result; a file that was cut or written by others is none. */
function parse(text: string): CreateResult | undefined {
  try {
    return createResultSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
