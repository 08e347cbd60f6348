import { type AgentMetadata, type JsonObject, type Message, RoutedAgent } from "../../../core/index.ts"
import { abortable } from "../../../internal/abortable.ts"
import { Slots } from "../../../internal/slots.ts"
import { type ChatItem, isChunk } from "../../messages/index.ts"
import type { WireItems } from "../../messages/wire-items.ts"
import { pendingOf } from "../../task/index.ts"
import type { ChatAgent } from "../chat-agent.ts"
import { CutTurn } from "../cut-turn.ts"
import { hearTurn } from "../read-turn.ts"
import {
  RemoteChatItem,
  RemoteChatPause,
  RemoteChatReset,
  RemoteChatResponse,
  RemoteChatTurn,
} from "./remote-chat-messages.ts"

// Whoever reads the turn says how long it may take.
const NO_DEADLINE_MS = 2 ** 31 - 1

/** A chat agent that others ask through a runtime: it tells what happens in its turn, and answers with what it says. */
export class ServedChatAgent extends RoutedAgent {
  readonly #agent: ChatAgent
  readonly #wire: WireItems
  readonly #cutTurn = new CutTurn()
  // One turn at a time; a pause comes in the middle of one.
  readonly #floor = new Slots(1)

  constructor(agent: ChatAgent, wire: WireItems) {
    super(agent.description)
    this.#agent = agent
    this.#wire = wire
    this.on(RemoteChatTurn, async (request, { signal }) =>
      this.#alone(signal, async () => {
        const turn = this.#turn(request, signal)
        this.#cutTurn.watch(turn)
        return abortable(turn, signal)
      }),
    )
    this.on(RemoteChatReset, async (_message, { signal }) =>
      this.#alone(signal, async () => agent.onReset({ signal })),
    )
    this.on(RemoteChatPause, async ({ paused }) => (paused ? agent.onPause() : agent.onResume()))
  }

  override get metadata(): AgentMetadata {
    return { ...super.metadata, name: this.#agent.name }
  }

  override async saveState(): Promise<JsonObject> {
    return this.#agent.saveState()
  }

  override async loadState(state: JsonObject): Promise<void> {
    await this.#agent.loadState(state)
  }

  override async close(): Promise<void> {
    await this.#agent.close()
  }

  async #turn({ messages, retry, turn, output }: RemoteChatTurn, signal: AbortSignal): Promise<Message> {
    const agent = this.#agent
    const heard = this.#wire.messages(messages)
    const items: ChatItem[] = []
    const tell = async (item: ChatItem, isAnswer: boolean): Promise<void> => {
      signal.throwIfAborted()
      this.#wire.leave([item])
      // The answer is in the reply.
      if (isAnswer) return
      if (!isChunk(item)) items.push(item)
      if (!output) return
      await this.send(RemoteChatItem({ turn, item }), output, { signal, timeoutMs: NO_DEADLINE_MS })
    }
    const stream = agent.onMessagesStream(heard, { signal, isRetry: retry })
    try {
      const { response } = await hearTurn(agent.name, stream, tell)
      const { chatMessage, stopKind, stopReason } = response
      return RemoteChatResponse({
        message: chatMessage,
        items,
        stop: { kind: stopKind, reason: stopReason },
      })
    } catch (error) {
      const pending = signal.aborted ? undefined : pendingOf(error)
      if (!pending) throw error
      return RemoteChatResponse({ message: null, items, pending })
    }
  }

  async #alone<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const free = await this.#floor.take(signal)
    try {
      await this.#cutTurn.comeBack(this.#agent.name, signal)
      return await work()
    } finally {
      free()
    }
  }
}
