import { randomUUID } from "node:crypto"
import { GloveboxError } from "../../../core/index.ts"
import { abortable } from "../../../internal/abortable.ts"
import { describe } from "../../../internal/describe.ts"
import type { MemoryContent } from "../../../memory/index.ts"
import type { CreateOptions, CreateResult, LLMMessage, RequestUsage } from "../../../models/index.ts"
import {
  type ChatItem,
  MemoryQueryEvent,
  ModelClientStreamingChunkEvent,
  ThoughtEvent,
} from "../../messages/index.ts"
import { NO_USAGE, addUsage } from "../../task/index.ts"
import type { AssistantSettings } from "./read-assistant-options.ts"
import { NO_TOOLS, type ToolTable, listTools } from "./tool-table.ts"
import type { TurnBudget } from "./turn-budget.ts"
import { withoutImages } from "./without-images.ts"

/** What the model said, and to what. */
export interface Said {
  /** Of the message that its words become; pieces of them were yielded with it. */
  readonly id: string
  readonly result: CreateResult
  readonly request: readonly LLMMessage[]
}

export interface AskOptions {
  /** False asks for words and nothing else. @default true */
  readonly withTools?: boolean | undefined
  /** The whole request. @default the conversation, with what is remembered */
  readonly request?: readonly LLMMessage[] | undefined
}

/** The talk with the model in one turn. */
export class ModelTalk {
  readonly #settings: AssistantSettings
  readonly #budget: TurnBudget
  readonly #signal: AbortSignal
  #table: ToolTable | undefined
  #hasRemembered = false
  #unclaimed: RequestUsage | undefined

  constructor(settings: AssistantSettings, budget: TurnBudget, signal: AbortSignal) {
    this.#settings = settings
    this.#budget = budget
    this.#signal = signal
  }

  /** Takes up a turn in which the model was asked before: what it can call is listed, and it is not asked. */
  async goOn({ hasRemembered }: Pick<ModelTalk, "hasRemembered">): Promise<void> {
    this.#hasRemembered = hasRemembered
    this.#table = await listTools(this.#settings, this.#signal)
  }

  /** Whether it was told in this turn what is remembered. */
  get hasRemembered(): boolean {
    return this.#hasRemembered
  }

  /** What the model could call when it was asked last. */
  get table(): ToolTable {
    return this.#table ?? NO_TOOLS
  }

  /** What was used since the last time this was asked: each use is told with exactly one message or event. */
  claimUsage(): RequestUsage | undefined {
    const usage = this.#unclaimed
    this.#unclaimed = undefined
    return usage
  }

  async *ask({ withTools = true, request }: AskOptions = {}): AsyncGenerator<ChatItem, Said, undefined> {
    const { name, modelClient, modelClientStream, output } = this.#settings
    this.#signal.throwIfAborted()
    if (withTools || !this.#table) this.#table = await listTools(this.#settings, this.#signal)
    const remembered: MemoryContent[] = []
    const asked = request ?? (await this.#request(remembered))
    if (remembered.length > 0 && !this.#hasRemembered) {
      this.#hasRemembered = true
      yield MemoryQueryEvent({ content: remembered, source: name })
    }
    const messages = modelClient.modelInfo.vision ? asked : withoutImages(asked)
    const { schemas } = this.#table
    const id = randomUUID()
    const options: CreateOptions = {
      ...(schemas.length === 0 ? {} : { tools: schemas, toolChoice: withTools ? "auto" : "none" }),
      ...(output ? { jsonOutput: output.schema } : {}),
      signal: this.#signal,
    }
    this.#signal.throwIfAborted()
    const given = modelClientStream
      ? yield* this.#stream(messages, id, options)
      : checkResult(await abortable(modelClient.create(messages, options), this.#signal))
    // No calls at all are no wish to call something.
    const result = given.content.length === 0 ? { ...given, content: "" } : given
    // Nobody was asked for an answer that was stored.
    const usage = result.cached ? NO_USAGE : result.usage
    this.#budget.use(usage)
    this.#unclaimed = addUsage(usage, this.#unclaimed)
    if (result.thought !== undefined && result.thought !== "") {
      // Beside calls it is the words that were yielded in pieces.
      const whole = typeof result.content === "string" ? {} : { id }
      yield ThoughtEvent({ ...whole, content: result.thought, source: name })
    }
    return { id, result, request: asked }
  }

  async #request(remembered: MemoryContent[]): Promise<readonly LLMMessage[]> {
    const { systemMessage, modelContext, memory } = this.#settings
    const kept = await abortable(modelContext.getMessages(), this.#signal)
    let messages: readonly LLMMessage[] =
      systemMessage === undefined ? kept : [{ type: "SystemMessage", content: systemMessage }, ...kept]
    for (const each of memory) {
      const update = each.updateContext(messages, { signal: this.#signal })
      const { messages: updated, memories } = await abortable(update, this.#signal)
      messages = updated
      remembered.push(...memories)
    }
    return messages
  }

  async *#stream(
    messages: readonly LLMMessage[],
    fullMessageId: string,
    options: CreateOptions,
  ): AsyncGenerator<ChatItem, CreateResult, undefined> {
    const { name: source, modelClient } = this.#settings
    const stream = modelClient.createStream(messages, options)
    let isDone = false
    try {
      for (;;) {
        const next = await abortable(stream.next(), this.#signal)
        isDone = next.done === true
        if (next.done === true) return checkResult(next.value)
        if (typeof next.value !== "string") return checkResult(next.value)
        yield ModelClientStreamingChunkEvent({ content: next.value, source, fullMessageId })
      }
    } finally {
      // Not waited for: it may hang in the very wait that was ended.
      if (!isDone) stream.return(undefined as never).catch(() => {})
    }
  }
}

function checkResult(value: unknown): CreateResult {
  const { content, usage } = (value ?? {}) as Partial<CreateResult>
  if ((typeof content === "string" || Array.isArray(content)) && typeof usage === "object") {
    return value as CreateResult
  }
  throw new GloveboxError(
    "MODEL_RESPONSE_INVALID",
    `The model client gave ${describe(value)} where a text or a result was expected.`,
  )
}
