import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  type JsonObject,
  defineComponent,
} from "../../../core/index.ts"
import type { ChatCompletionContext } from "../../../memory/index.ts"
import { type ChatItem, type ChatMessage, isChunk, toModelMessage } from "../../messages/index.ts"
import { SuspendedError, response } from "../../task/index.ts"
import { BaseChatAgent } from "../base-chat-agent.ts"
import type { TurnOptions, TurnStream } from "../chat-agent.ts"
import {
  type AssistantConfig,
  assistantConfigSchema,
  configFromSettings,
  optionsFromConfig,
} from "./assistant-config.ts"
import type { AssistantAgentOptions } from "./assistant-options.ts"
import { type LastTurn, loadAssistantState, saveAssistantState } from "./assistant-state.ts"
import { type Answer, AssistantTurn } from "./assistant-turn.ts"
import { forgetHeld } from "./forget-calls.ts"
import { type AssistantSettings, readAssistantOptions } from "./read-assistant-options.ts"
import { type HeldTurn, withLater } from "./suspended-turn.ts"
import { TurnClock } from "./turn-clock.ts"

/**
 * An agent with a model and tools. It calls tools until the model answers in words, and keeps the conversation.
 *
 * @example
 * const assistant = new AssistantAgent({ name: "coder", modelClient, tools: [weather] })
 * const { messages } = await assistant.run("Will it rain in Oslo?")
 */
export class AssistantAgent extends BaseChatAgent implements Component {
  static readonly definition: ComponentDefinition<AssistantConfig, AssistantAgent> = defineComponent({
    provider: "glovebox.agents.AssistantAgent",
    aliases: ["autogen_agentchat.agents.AssistantAgent"],
    type: "agent",
    // AutoGen's number; what it wrote before, it still reads as it is.
    version: 2,
    upgrades: { 1: (config) => config },
    config: assistantConfigSchema,
    create: (config, loader) => {
      const options = optionsFromConfig(config, loader)
      const agent = new AssistantAgent(options)
      // Nobody else knows what was made for it alone.
      agent.#owned = partsOf(options).filter(isDisposable)
      return agent
    },
  })

  readonly #settings: AssistantSettings
  /** The turn that waits for approvals. */
  readonly #held: HeldTurn = { turn: undefined }
  #lastTurn: LastTurn = { messages: new Set(), isOver: true }
  #isBusy = false
  #owned: readonly AsyncDisposable[] = []

  constructor(options: AssistantAgentOptions) {
    const settings = readAssistantOptions(options)
    super(settings.name, settings.description)
    this.#settings = settings
  }

  override get producedMessageTypes(): readonly string[] {
    const { output, tools, workbenches, handoffs, turnTimeout } = this.#settings
    const types = [output ? "StructuredMessage" : "TextMessage"]
    if (tools.length + workbenches.length + handoffs.size > 0 || turnTimeout !== undefined) {
      types.push("ToolCallSummaryMessage")
    }
    return handoffs.size > 0 ? [...types, "HandoffMessage"] : types
  }

  /** The conversation as the model is shown it. */
  get modelContext(): ChatCompletionContext {
    return this.#settings.modelContext
  }

  override async *onMessagesStream(messages: readonly ChatMessage[], options: TurnOptions): TurnStream {
    const { signal, isRetry = false } = options
    signal.throwIfAborted()
    this.#begin()
    const { name, turnTimeout, governor } = this.#settings
    const clock = new TurnClock(name, turnTimeout, signal)
    let turn: ReturnType<AssistantTurn["run"]> | undefined
    const inner: ChatItem[] = []
    let isOver = false
    try {
      await this.#take(messages, isRetry)
      const plain = new AssistantTurn(this.#settings, clock, this.#held).run()
      turn = governor?.turn(plain) ?? plain
      let answer: Answer | undefined
      while (!answer) {
        const next = await turn.next()
        if (next.done === true) {
          if ("pending" in next.value) throw new SuspendedError(name, next.value.pending)
          answer = next.value
        } else {
          if (!isChunk(next.value)) inner.push(next.value)
          yield next.value
        }
      }
      // Over now, and not when somebody asks for what comes after the response.
      isOver = true
      clock.stop()
      this.#lastTurn.isOver = true
      this.#isBusy = false
      const { chatMessage, stopKind, stopReason } = answer
      const last = response(chatMessage, inner, { stopKind, stopReason })
      yield last
      return last
    } finally {
      if (!isOver) {
        // First what waits, then the turn, which writes down what was not done.
        clock.leave()
        await turn?.return(undefined as never)
        this.#isBusy = false
      }
    }
  }

  override async onReset(_options?: TurnOptions): Promise<void> {
    this.#begin()
    try {
      await this.#settings.modelContext.clear()
      this.#lastTurn = { messages: new Set(), isOver: true }
      forgetHeld(this.#settings, this.#held)
      this.#held.turn = undefined
    } finally {
      this.#isBusy = false
    }
  }

  override async saveState(): Promise<JsonObject> {
    return saveAssistantState(this.#settings, this.#lastTurn, this.#held.turn)
  }

  override async loadState(state: JsonObject): Promise<void> {
    this.#begin()
    try {
      const { lastTurn, suspended } = await loadAssistantState(this.#settings, this.#held, state)
      this.#lastTurn = lastTurn
      this.#held.turn = suspended
    } finally {
      this.#isBusy = false
    }
  }

  /** Ends what was made from data for it; the rest is for whoever made it to end. */
  override async close(): Promise<void> {
    const owned = this.#owned
    this.#owned = []
    await Promise.all(owned.map(async (part) => part[Symbol.asyncDispose]()))
  }

  toComponent(): ComponentModel {
    return AssistantAgent.definition.dump(configFromSettings(this.#settings), {
      description: this.description,
    })
  }

  async #take(messages: readonly ChatMessage[], isRetry: boolean): Promise<void> {
    const { modelContext } = this.#settings
    if (this.#lastTurn.isOver && !isRetry) this.#lastTurn.messages = new Set()
    const taken = this.#lastTurn.messages
    this.#lastTurn.isOver = false
    for (const message of messages) {
      if (taken.has(message.id)) continue
      const before = message.type === "HandoffMessage" ? message.context : []
      const said = [...before, toModelMessage(message)]
      // A call and its results stand together, so nothing comes between them while they wait.
      if (this.#held.turn) this.#held.turn = withLater(this.#held.turn, said)
      else for (const each of said) await modelContext.addMessage(each)
      taken.add(message.id)
    }
  }

  #begin(): void {
    if (this.#isBusy) {
      throw new GloveboxError(
        "RUN_ACTIVE",
        `${this.name} is in the middle of a turn. Wait for its end, or make another agent.`,
      )
    }
    this.#isBusy = true
  }
}

function partsOf({ modelClient, tools = [], workbench = [], memory = [] }: AssistantAgentOptions): object[] {
  return [modelClient, ...tools, ...[workbench].flat(), ...memory]
}

function isDisposable(part: object): part is AsyncDisposable {
  return Symbol.asyncDispose in part
}
