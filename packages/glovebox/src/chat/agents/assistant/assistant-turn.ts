import { GloveboxError } from "../../../core/index.ts"
import { shorten } from "../../../internal/describe.ts"
import { type FinishReason, assistantMessage } from "../../../models/index.ts"
import { formatDuration } from "../../../policy/index.ts"
import {
  type ChatItem,
  type ChatMessage,
  StructuredMessage,
  TextMessage,
  ToolCallSummaryMessage,
} from "../../messages/index.ts"
import type { Response } from "../../task/index.ts"
import { type CallRecord, summarizeCalls } from "./call-record.ts"
import { ModelTalk, type Said } from "./model-talk.ts"
import type { OutputReader } from "./output-reader.ts"
import type { AssistantSettings } from "./read-assistant-options.ts"
import { type RoundContext, runRound } from "./tool-round.ts"
import { type Cap, TurnBudget } from "./turn-budget.ts"
import type { TurnClock } from "./turn-clock.ts"

const CUT_OFF: readonly FinishReason[] = ["length", "content_filter"]

/** What a turn comes to. */
export type Answer = Pick<Response, "chatMessage" | "stopKind" | "stopReason">

/** One turn: the model is asked, and does with tools what it wants, until it answers or a cap is reached. */
export class AssistantTurn {
  readonly #settings: AssistantSettings
  readonly #clock: TurnClock
  readonly #budget: TurnBudget
  readonly #talk: ModelTalk
  readonly #records: CallRecord[] = []

  constructor(settings: AssistantSettings, clock: TurnClock) {
    this.#settings = settings
    this.#clock = clock
    this.#budget = new TurnBudget(settings)
    this.#talk = new ModelTalk(settings, this.#budget, clock.modelSignal)
  }

  async *run(): AsyncGenerator<ChatItem, Answer, undefined> {
    const context: RoundContext = {
      settings: this.#settings,
      clock: this.#clock,
      budget: this.#budget,
      talk: this.#talk,
      records: this.#records,
    }
    try {
      for (;;) {
        const said = yield* this.#talk.ask()
        const { content } = said.result
        if (typeof content === "string") return { chatMessage: yield* this.#answer(said, content) }
        const { handoff, cap } = yield* runRound({ ...said, calls: content }, context)
        if (handoff) return { chatMessage: handoff }
        if (cap !== undefined || this.#settings.toolLoop === "single-round") {
          return yield* this.#conclude(cap)
        }
      }
    } catch (error) {
      if (this.#clock.isTimeout(error)) return this.#summary("time")
      throw error
    }
  }

  /** Ends a turn that its tools ended. */
  async *#conclude(cap: Cap | undefined): AsyncGenerator<ChatItem, Answer, undefined> {
    if (!this.#settings.reflectOnToolUse || cap === "tokens") return this.#summary(cap)
    const said = yield* this.#talk.ask({ withTools: false })
    const { content } = said.result
    // A model that calls tools all the same has nothing to say about them.
    if (typeof content !== "string") return this.#summary(cap)
    return { chatMessage: yield* this.#answer(said, content), ...this.#stop(cap) }
  }

  /** Makes the model's words the answer. */
  async *#answer(said: Said, text: string): AsyncGenerator<ChatItem, ChatMessage, undefined> {
    const { output } = this.#settings
    return output ? yield* this.#structured(said, text, output) : this.#words(said, text)
  }

  async #words(said: Said, text: string): Promise<ChatMessage> {
    const { name, modelContext } = this.#settings
    await modelContext.addMessage(assistantMessage(said.result, name))
    return TextMessage({ content: text, ...this.#fields(said) })
  }

  async *#structured(
    first: Said,
    firstText: string,
    output: OutputReader,
  ): AsyncGenerator<ChatItem, ChatMessage, undefined> {
    const { name, modelContext } = this.#settings
    let [said, text] = [first, firstText]
    let read = await output.read(text)
    if ("problem" in read && !this.#budget.isOutOfTokens) {
      // Only the answer that fits is kept in the conversation.
      said = yield* this.#talk.ask({
        withTools: false,
        request: [
          ...first.request,
          assistantMessage(first.result, name),
          { type: "UserMessage", content: correction(read.problem), source: "user" },
        ],
      })
      const { content } = said.result
      text = typeof content === "string" ? content : JSON.stringify(content)
      read = await output.read(text)
    }
    if ("problem" in read) {
      throw new GloveboxError(
        "OUTPUT_INVALID",
        `The answer of ${name} does not fit ${output.format.name}: ${read.problem}. It was ${JSON.stringify(shorten(text))}.`,
      )
    }
    await modelContext.addMessage(assistantMessage(said.result, name))
    return StructuredMessage({
      content: read.value,
      contentName: output.format.name,
      ...(output.formatString === undefined ? {} : { formatString: output.formatString }),
      ...this.#fields(said),
    })
  }

  /** The results of all rounds, where the model has no words for them. */
  #summary(cap: Cap | undefined): Answer {
    const { name: source, toolCallSummaryFormat, metadata } = this.#settings
    const stop = this.#stop(cap)
    const records = this.#records
    return {
      chatMessage: ToolCallSummaryMessage({
        content:
          records.length === 0 ? (stop.stopReason ?? "") : summarizeCalls(records, toolCallSummaryFormat),
        toolCalls: records.map(({ call }) => call),
        results: records.map(({ result }) => result),
        source,
        metadata,
        modelsUsage: this.#talk.claimUsage(),
      }),
      ...stop,
    }
  }

  #fields({
    id,
    result: { finishReason },
  }: Said): Pick<TextMessage, "id" | "source" | "metadata" | "modelsUsage"> {
    const { name: source, metadata } = this.#settings
    return {
      id,
      source,
      // An answer that was cut off reads like any other.
      metadata: CUT_OFF.includes(finishReason) ? { ...metadata, finishReason } : metadata,
      modelsUsage: this.#talk.claimUsage(),
    }
  }

  #stop(cap: Cap | undefined): Pick<Answer, "stopKind" | "stopReason"> {
    if (cap === undefined) return {}
    const { name, maxToolRounds, maxToolCalls, maxTokens = 0, turnTimeout = 0 } = this.#settings
    const reasons: Record<Cap, string> = {
      "tool-rounds": `${name} wanted tools after ${maxToolRounds} rounds of them, which is its limit.`,
      "tool-calls": `${name} wanted more than ${maxToolCalls} calls of tools, which is its limit.`,
      tokens: `${name} wanted tools after its limit of ${maxTokens} tokens.`,
      time: `${name} was not done in its time of ${formatDuration(turnTimeout)}.`,
    }
    return { stopKind: cap, stopReason: reasons[cap] }
  }
}

function correction(problem: string): string {
  return `This does not fit the schema of the answer: ${problem}. Answer again, with nothing but JSON that fits.`
}
