import { GloveboxError } from "../../../core/index.ts"
import { shorten } from "../../../internal/describe.ts"
import { type FinishReason, assistantMessage } from "../../../models/index.ts"
import { formatDuration } from "../../../policy/index.ts"
import {
  type ChatItem,
  type ChatMessage,
  StructuredMessage,
  TextMessage,
  ToolCallRequestEvent,
  ToolCallSummaryMessage,
} from "../../messages/index.ts"
import type { Response } from "../../task/index.ts"
import { type CallRecord, summarizeCalls } from "./call-record.ts"
import { ModelTalk, type Said } from "./model-talk.ts"
import type { OutputReader } from "./output-reader.ts"
import type { AssistantSettings } from "./read-assistant-options.ts"
import { type HeldTurn, type SuspendedTurn, whoIsAsked } from "./suspended-turn.ts"
import { type Round, type RoundContext, beginRound, runRound } from "./tool-round.ts"
import { type Cap, TurnBudget } from "./turn-budget.ts"
import type { TurnClock } from "./turn-clock.ts"

const CUT_OFF: readonly FinishReason[] = ["length", "content_filter"]

/** What a turn comes to. */
export type Answer = Pick<Response, "chatMessage" | "stopKind" | "stopReason">

/** The ids of the requests for approvals that a turn waits for. */
export interface Suspension {
  readonly pending: readonly string[]
}

/** One turn: the model is asked, and does with tools what it wants, until it answers or a cap is reached. */
export class AssistantTurn {
  readonly #settings: AssistantSettings
  readonly #clock: TurnClock
  readonly #budget: TurnBudget
  readonly #talk: ModelTalk
  readonly #held: HeldTurn
  readonly #records: CallRecord[]

  constructor(settings: AssistantSettings, clock: TurnClock, held: HeldTurn) {
    this.#settings = settings
    this.#clock = clock
    this.#held = held
    this.#budget = new TurnBudget(settings, held.turn?.used)
    this.#talk = new ModelTalk(settings, this.#budget, clock.modelSignal)
    this.#records = [...(held.turn?.records ?? [])]
  }

  async *run(): AsyncGenerator<ChatItem, Answer | Suspension, undefined> {
    const context: RoundContext = {
      settings: this.#settings,
      clock: this.#clock,
      budget: this.#budget,
      talk: this.#talk,
      records: this.#records,
      held: this.#held,
    }
    try {
      let round = this.#held.turn && (await this.#goOn(this.#held.turn))
      for (;;) {
        if (!round) {
          const said = yield* this.#talk.ask()
          const { content } = said.result
          if (typeof content === "string") return { chatMessage: yield* this.#answer(said, content) }
          const { name: source } = this.#settings
          round = beginRound(assistantMessage(said.result, source), content, context)
          yield ToolCallRequestEvent({
            content: round.calls,
            source,
            modelsUsage: this.#talk.claimUsage(),
          })
        }
        const { handoff, cap, pending } = yield* runRound(round, context)
        if (pending) {
          this.#hold(round)
          return { pending }
        }
        round = undefined
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

  /** Takes up the round that waited; it is held until it is written down. */
  async #goOn({ round, hasRemembered }: SuspendedTurn): Promise<Round> {
    try {
      await this.#talk.goOn({ hasRemembered })
    } catch (error) {
      // With the time over the round ends as any other does, and is not left open.
      if (!this.#clock.isTimeout(error)) throw error
    }
    return round
  }

  #hold(round: Round): void {
    const { hasRemembered } = this.#talk
    const isAsked = whoIsAsked(this.#settings) !== undefined
    this.#held.turn = { round, used: this.#budget.used, records: this.#records, hasRemembered, isAsked }
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
