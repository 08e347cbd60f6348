import { GloveboxError, type JsonObject } from "../core/index.ts"
import type {
  ChatCompletionClient,
  CountOptions,
  CreateOptions,
  TokenCount,
} from "./chat-completion-client.ts"
import { clientClosed } from "./client-closed.ts"
import type { ReadClientSettings } from "./client-settings.ts"
import type { CreateResult, RequestUsage } from "./create-result.ts"
import type { LLMMessage } from "./messages.ts"
import type { ModelBackend } from "./model-backend.ts"
import { failureError, isRetryable } from "./model-failure.ts"
import type { ModelInfo } from "./model-info.ts"
import { readRequest } from "./model-request.ts"
import { OpenCall } from "./open-call.ts"
import { pause, retryPauseMs } from "./retry-pause.ts"
import { UsageMeter } from "./usage-meter.ts"

/** What every client does alike: checks, deadlines, retries, aborts, typed errors and the count of tokens used. */
export abstract class BackendClient implements ChatCompletionClient {
  readonly #backend: ModelBackend
  readonly #settings: ReadClientSettings
  readonly #usage = new UsageMeter()
  readonly #calls = new Set<OpenCall>()
  #isClosed = false

  constructor(backend: ModelBackend, settings: ReadClientSettings) {
    this.#backend = backend
    this.#settings = settings
  }

  get modelInfo(): ModelInfo {
    return this.#backend.modelInfo
  }

  get identity(): JsonObject {
    // The family decides on how messages are written and answers are read.
    return { ...this.#backend.identity, family: this.modelInfo.family }
  }

  async create(messages: readonly LLMMessage[], options: CreateOptions = {}): Promise<CreateResult> {
    const request = readRequest(messages, options, this.modelInfo)
    using call = this.#open(options.signal)
    try {
      for (let attempt = 1; ; attempt += 1) {
        try {
          const result = await call.next(this.#backend.complete(request, call.signal), undefined)
          this.#usage.add(result.usage)
          return result
        } catch (error) {
          await this.#beforeRetry(error, call, attempt)
        }
      }
    } finally {
      this.#calls.delete(call)
    }
  }

  async *createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): AsyncGenerator<string | CreateResult, CreateResult> {
    const request = readRequest(messages, options, this.modelInfo)
    using call = this.#open(options.signal)
    let hasSpoken = false
    try {
      for (let attempt = 1; ; attempt += 1) {
        const parts = this.#backend.stream(request, call.signal)
        let hasBegun = false
        try {
          for (;;) {
            const idleMs = hasBegun ? this.#settings.idleTimeoutMs : undefined
            const part = await call.next(parts.next(), idleMs)
            if (part.done === true) {
              this.#usage.add(part.value.usage)
              yield part.value
              return part.value
            }
            hasBegun = true
            if (part.value === "") continue
            hasSpoken = true
            yield part.value
          }
        } catch (error) {
          // What was said cannot be taken back, so that a stream that has spoken is not tried again.
          await this.#beforeRetry(error, call, hasSpoken ? Number.POSITIVE_INFINITY : attempt)
        } finally {
          parts.return(undefined as never).catch(() => {})
        }
      }
    } finally {
      this.#calls.delete(call)
    }
  }

  async countTokens(messages: readonly LLMMessage[], options: CountOptions = {}): Promise<TokenCount> {
    return this.#backend.countTokens(messages, options)
  }

  async remainingTokens(messages: readonly LLMMessage[], options: CountOptions = {}): Promise<number> {
    const { contextTokens } = this.modelInfo
    if (contextTokens === undefined) {
      throw new GloveboxError(
        "OPTION_INVALID",
        `How much the model "${this.#backend.context.model}" takes is not known. Pass modelInfo with contextTokens.`,
      )
    }
    const { tokens } = await this.countTokens(messages, options)
    return contextTokens - tokens
  }

  actualUsage(): RequestUsage {
    return this.#usage.read()
  }

  totalUsage(): RequestUsage {
    return this.#usage.read()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const call of this.#calls) call.end(clientClosed())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #open(signal: AbortSignal | undefined): OpenCall {
    if (this.#isClosed) throw clientClosed()
    const call = new OpenCall(this.#settings.timeoutMs, signal)
    this.#calls.add(call)
    return call
  }

  /** Waits until the call may be tried again, or throws what the caller is told. */
  async #beforeRetry(error: unknown, call: OpenCall, attempt: number): Promise<void> {
    call.signal.throwIfAborted()
    if (GloveboxError.is(error)) throw error
    // Libraries put what a provider of tokens throws into an error of their own.
    if (error instanceof Error && GloveboxError.is(error.cause)) throw error.cause
    const failure = this.#backend.failureOf(error)
    const waitMs = retryPauseMs(failure, attempt, this.#settings.retryDelayMs)
    const mayRetry = attempt <= this.#settings.maxRetries && isRetryable(failure) && waitMs < call.remainingMs
    if (!mayRetry) throw failureError(failure, this.#backend.context, Number.isFinite(attempt) ? attempt : 1)
    await pause(waitMs, call.signal)
  }
}
