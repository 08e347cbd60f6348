import { type AgentId, type AgentMetadata, type Message, RoutedAgent } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import type { ChatAgent } from "../agents/chat-agent.ts"
import { CutTurn } from "../agents/cut-turn.ts"
import { hearTurn } from "../agents/read-turn.ts"
import { type ChatItem, isChatMessage } from "../messages/index.ts"
import type { WireItems } from "../messages/wire-items.ts"
import { NO_USAGE, drain, hiddenUsage, pendingOf } from "../task/index.ts"
import {
  GroupChatAgentResponse,
  GroupChatMessage,
  GroupChatRequestPublish,
  GroupChatReset,
} from "./group-chat-messages.ts"
import { type Participant, isChatAgent } from "./participant.ts"
import type { Team } from "./team.ts"
import { ToldTurn } from "./told-turn.ts"

/** How what happens in a team goes to whoever reads its stream. */
export interface MemberWay {
  readonly output: AgentId
  readonly wire: WireItems
  readonly timeoutMs: number | undefined
}

/** A participant as an agent of the runtime: asked to speak, it tells what happens and answers with its turn. */
export class ChatAgentContainer extends RoutedAgent {
  readonly #way: MemberWay
  readonly #cutTurn = new CutTurn()
  readonly #name: string
  /** What ends the turn that is asked for; whoever asks from afar has the message's own, which is dear to make. */
  turnSignal: AbortSignal | undefined

  constructor(participant: Participant, way: MemberWay) {
    super(participant.description)
    this.#way = way
    const { name } = participant
    this.#name = name
    this.on(GroupChatRequestPublish, async (request, context) => {
      const signal = this.turnSignal ?? context.signal
      await this.#cutTurn.comeBack(name, signal)
      const turn = isChatAgent(participant)
        ? this.#agentTurn(participant, request, signal)
        : this.#teamTurn(participant, request, signal)
      this.#cutTurn.watch(turn)
      return abortable(turn, signal)
    })
    this.on(GroupChatReset, async (_message, { signal }) => {
      await this.#cutTurn.comeBack(name, signal)
      await (isChatAgent(participant) ? participant.onReset({ signal }) : participant.reset())
    })
  }

  override get metadata(): AgentMetadata {
    return { ...super.metadata, name: this.#name }
  }

  /** Gives a participant whose turn was cut off a moment to clear up. */
  async settle(): Promise<void> {
    await this.#cutTurn.settle()
  }

  async #agentTurn(
    agent: ChatAgent,
    { messages, isRetry, told }: GroupChatRequestPublish,
    signal: AbortSignal,
  ): Promise<Message> {
    const stream = agent.onMessagesStream(this.#way.wire.messages(messages), { signal, isRetry })
    const turn = new ToldTurn(told, (item) => this.#tell(item, signal))
    try {
      const { response } = await hearTurn(agent.name, stream, (item) => turn.take(item))
      return GroupChatAgentResponse({ items: turn.items, said: [response.chatMessage], untold: NO_USAGE })
    } catch (error) {
      const pending = pendingOf(error)
      if (!pending) throw error
      return GroupChatAgentResponse({ items: turn.items, said: [], untold: NO_USAGE, pending })
    }
  }

  async #teamTurn(
    team: Team,
    { messages: given, told }: GroupChatRequestPublish,
    signal: AbortSignal,
  ): Promise<Message> {
    const news = this.#way.wire.messages(given)
    const options = { signal, outputTaskMessages: false }
    // A team that waits knows the messages that it was given before.
    const stream = team.runStream(news.length === 0 ? undefined : news, options)
    const turn = new ToldTurn(told, (item) => this.#tell(item, signal))
    const { usage, stopKind, pending, messages } = await drain(stream, async (item) => {
      if (item.type !== "TaskResult") await turn.take(item)
    })
    return GroupChatAgentResponse({
      items: turn.items,
      said: turn.items.filter(isChatMessage),
      untold: hiddenUsage(usage, messages),
      ...(stopKind === "suspended" && { pending: pending ?? [] }),
    })
  }

  /** Waits until the reader has it, so that the turn is not ahead of who watches it. */
  async #tell(message: ChatItem, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { output, wire, timeoutMs } = this.#way
    wire.leave([message])
    await this.send(GroupChatMessage({ message }), output, { timeoutMs })
  }
}
