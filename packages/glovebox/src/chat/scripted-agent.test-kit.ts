import type { JsonObject } from "../core/index.ts"
import { BaseChatAgent } from "./agents/base-chat-agent.ts"
import type { TurnOptions, TurnStream } from "./agents/chat-agent.ts"
import { type ChatItem, type ChatMessage, TextMessage, isChunk, toText } from "./messages/index.ts"
import { response } from "./task/index.ts"

export type Step = (context: {
  readonly signal: AbortSignal
  readonly heard: readonly ChatMessage[]
  /** How many turns it had, this one included. */
  readonly turn: number
}) => ChatMessage | string | Promise<ChatMessage | string>

export interface ScriptedAgentOptions {
  /** Told before the answer. @default nothing */
  readonly events?: (turn: number) => readonly ChatItem[]
  readonly producedMessageTypes?: readonly string[]
}

/** An agent that does what a test says, and remembers what it was told. */
export class ScriptedAgent extends BaseChatAgent {
  readonly heard: string[][] = []
  readonly calls: string[] = []
  readonly #step: Step
  readonly #options: ScriptedAgentOptions
  #turn = 0

  constructor(name: string, step: Step = ({ turn }) => `${name}${turn}`, options: ScriptedAgentOptions = {}) {
    super(name, `${name} of the test.`)
    this.#step = step
    this.#options = options
  }

  override get producedMessageTypes(): readonly string[] {
    return this.#options.producedMessageTypes ?? ["TextMessage"]
  }

  override async *onMessagesStream(messages: readonly ChatMessage[], { signal }: TurnOptions): TurnStream {
    this.heard.push(messages.map(toText))
    this.#turn += 1
    const events = this.#options.events?.(this.#turn) ?? []
    yield* events
    const said = await this.#step({ signal, heard: messages, turn: this.#turn })
    const message = typeof said === "string" ? TextMessage({ content: said, source: this.name }) : said
    const last = response(
      message,
      events.filter((event) => !isChunk(event)),
    )
    yield last
    return last
  }

  override async onReset(): Promise<void> {
    this.calls.push("reset")
    this.#turn = 0
  }

  override async onPause(): Promise<void> {
    this.calls.push("pause")
  }

  override async onResume(): Promise<void> {
    this.calls.push("resume")
  }

  override async saveState(): Promise<JsonObject> {
    return { turn: this.#turn }
  }

  override async loadState({ turn }: JsonObject): Promise<void> {
    if (typeof turn !== "number") throw new Error(`${this.name} has no turn`)
    this.#turn = turn
  }
}

/** A step that begins, says so, and then waits for its signal. */
export function untilAborted(began: () => void): Step {
  return ({ signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true })
      began()
    })
}
