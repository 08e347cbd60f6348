import { randomUUID } from "node:crypto"
import { GloveboxError, type JsonObject, type JsonValue } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { canonicalJson } from "../../internal/canonical-json.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type {
  ChatCompletionClient,
  CountOptions,
  CreateOptions,
  CreateResult,
  LLMMessage,
  ModelInfo,
  RequestUsage,
  TokenCount,
} from "../../models/index.ts"
import type { AuditData } from "../audit/record-kinds.ts"
import { sha256Of } from "../audit/code-run-data.ts"
import type { Observed } from "../telemetry/index.ts"
import type { Controls } from "./controls.ts"
import type { EffectEntry, EffectLog, OpenEffect } from "./effect-log.ts"
import { MessageBlocked } from "./model-filter.ts"
import { OutgoingMessages } from "./outgoing-messages.ts"
import { redactThrown } from "./redact-thrown.ts"
import { redactTools } from "./redact-tools.ts"

type ModelCall = AuditData<"model-call">

/** A model client behind the rules: what goes to the model is redacted, filtered, recorded and traced. */
export class GovernedClient implements ChatCompletionClient {
  readonly #client: ChatCompletionClient
  readonly #controls: Controls
  readonly #outgoing: OutgoingMessages

  constructor(client: ChatCompletionClient, controls: Controls) {
    this.#client = client
    this.#controls = controls
    this.#outgoing = new OutgoingMessages(controls.redactor, controls.filter)
  }

  /** Whether what happens here is written into this log: it is behind the same rules then. */
  isBehind(log: EffectLog): boolean {
    return this.#controls.log === log
  }

  get modelInfo(): ModelInfo {
    return this.#client.modelInfo
  }

  get identity(): JsonObject {
    return this.#client.identity
  }

  async create(messages: readonly LLMMessage[], options: CreateOptions = {}): Promise<CreateResult> {
    const call = await this.#begin(messages, options, false)
    try {
      const asked = call.observed.run(async () => this.#client.create(call.messages, this.#told(options)))
      // One that does not look at its signal must not keep the record open.
      const result = await abortable(asked, options.signal)
      await call.done(result)
      return result
    } catch (error) {
      await call.failed(error)
      throw redactThrown(error, this.#controls.redactor)
    }
  }

  async *createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): AsyncGenerator<string | CreateResult, CreateResult> {
    const call = await this.#begin(messages, options, true)
    try {
      const stream = this.#client.createStream(call.messages, this.#told(options))
      let isDone = false
      let isStuck = false
      try {
        for (;;) {
          isStuck = true
          const next = await abortable(
            call.observed.run(() => stream.next()),
            options.signal,
          )
          isStuck = false
          isDone = next.done === true
          if (typeof next.value !== "string") {
            // Recorded before anybody hears of it.
            await call.done(next.value)
            if (!isDone) yield next.value
            return next.value
          }
          yield next.value
        }
      } finally {
        if (!isDone) {
          const ended = stream.return(undefined as never).catch(() => {})
          if (!isStuck) await ended
        }
      }
    } catch (error) {
      await call.failed(error)
      throw redactThrown(error, this.#controls.redactor)
    } finally {
      await call.failed("Nobody wanted the rest of the answer.")
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
    return this.#client.totalUsage()
  }

  async close(): Promise<void> {
    await this.#client.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #told(options: CreateOptions): CreateOptions {
    const { redactor } = this.#controls
    return redactor && options.tools ? { ...options, tools: redactTools(options.tools, redactor) } : options
  }

  async #begin(
    given: readonly LLMMessage[],
    { signal, tools }: CreateOptions,
    streams: boolean,
  ): Promise<Call> {
    const { agent, log, telemetry, content } = this.#controls
    const messages = await this.#prepare(given, signal)
    const { provider, model } = this.#client.identity
    const data: ModelCall = {
      phase: "intent",
      id: randomUUID(),
      model: typeof model === "string" ? model : "unknown",
      provider: typeof provider === "string" ? provider : undefined,
      requestSha256: sha256Of(canonicalJson(messages)),
      ...(content.messages === true && { content: plain(messages) }),
    }
    const effect = await log.begin({ kind: "model-call", agent, data }, { signal })
    const observed = telemetry.modelCall({
      agent,
      model: data.model,
      provider: data.provider,
      streams,
      messages,
      tools: tools?.length,
    })
    return new Call({ messages, data, effect, observed, controls: this.#controls })
  }

  async #prepare(
    messages: readonly LLMMessage[],
    signal: AbortSignal | undefined,
  ): Promise<readonly LLMMessage[]> {
    const { agent, log, telemetry } = this.#controls
    const record = async (data: AuditData<"message-filtered">): Promise<void> => {
      if (data.action !== "flag") telemetry.denied({ agent, kind: "filter", name: data.rules.join(",") })
      await log.record({ kind: "message-filtered", agent, data }, { signal })
    }
    try {
      const outgoing = this.#outgoing.prepare(messages)
      for (const found of outgoing.found) await record(found)
      return outgoing.messages
    } catch (error) {
      if (error instanceof MessageBlocked && error.found) await record(error.found)
      throw error
    }
  }
}

interface CallParts {
  readonly messages: readonly LLMMessage[]
  readonly data: ModelCall
  readonly effect: OpenEffect
  readonly observed: Observed<CreateResult>
  readonly controls: Controls
}

/** One call of a model; the first end counts. */
class Call {
  readonly #parts: CallParts
  readonly #start = performance.now()
  #isOver = false

  constructor(parts: CallParts) {
    this.#parts = parts
  }

  get messages(): readonly LLMMessage[] {
    return this.#parts.messages
  }

  get observed(): Observed<CreateResult> {
    return this.#parts.observed
  }

  async done(result: CreateResult): Promise<void> {
    if (this.#isOver) return
    const { observed, effect } = this.#parts
    // First: of a client of anybody's it may be anything, and then the call has failed.
    const entry = this.#entry(this.#outcomeOf(result))
    this.#isOver = true
    observed.end(result)
    await effect.close(entry)
  }

  async failed(error: unknown): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    this.#parts.observed.fail(error)
    await this.#parts.effect.close(this.#entry({ phase: "failed", error: errorMessage(error) }))
  }

  #outcomeOf(result: CreateResult): Partial<ModelCall> {
    try {
      const { content, usage, finishReason, cached } = result
      return {
        phase: "done",
        responseSha256: sha256Of(canonicalJson(content)),
        promptTokens: usage.promptTokens,
        completionTokens: usage.completionTokens,
        finishReason,
        cached,
        content: this.#parts.controls.content.messages === true ? plain(content) : undefined,
      }
    } catch (error) {
      throw new GloveboxError(
        "MODEL_RESPONSE_INVALID",
        `The model's client gave no answer that is one: ${errorMessage(error)}`,
        { cause: error },
      )
    }
  }

  #entry(outcome: Partial<ModelCall>): EffectEntry {
    const { data, controls } = this.#parts
    const { content: _asked, ...intent } = data
    const durationMs = performance.now() - this.#start
    return { kind: "model-call", agent: controls.agent, data: { ...intent, durationMs, ...outcome } }
  }
}

// Images have classes of their own, which JSON writes down.
function plain(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue
}
