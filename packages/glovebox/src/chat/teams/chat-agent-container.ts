import { type AgentId, type Message, RoutedAgent } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import type { ChatAgent } from "../agents/chat-agent.ts"
import { CutTurn } from "../agents/cut-turn.ts"
import { hearTurn } from "../agents/read-turn.ts"
import { type ChatItem, isChatMessage } from "../messages/index.ts"
import { NO_USAGE, drain, hiddenUsage } from "../task/index.ts"
import {
  GroupChatAgentResponse,
  GroupChatMessage,
  GroupChatRequestPublish,
  GroupChatReset,
} from "./group-chat-messages.ts"
import { type Participant, isChatAgent } from "./participant.ts"
import type { Team } from "./team.ts"

/** A participant as an agent of the runtime: asked to speak, it tells what happens and answers with its turn. */
export class ChatAgentContainer extends RoutedAgent {
  readonly #output: AgentId
  readonly #cutTurn = new CutTurn()
  /** What ends the turn that is asked for; whoever asks from afar has the message's own, which is dear to make. */
  turnSignal: AbortSignal | undefined

  constructor(participant: Participant, output: AgentId) {
    super(participant.description)
    this.#output = output
    const { name } = participant
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

  /** Gives a participant whose turn was cut off a moment to clear up. */
  async settle(): Promise<void> {
    await this.#cutTurn.settle()
  }

  async #agentTurn(
    agent: ChatAgent,
    { messages, isRetry }: GroupChatRequestPublish,
    signal: AbortSignal,
  ): Promise<Message> {
    const stream = agent.onMessagesStream(messages, { signal, isRetry })
    const { items, response } = await hearTurn(agent.name, stream, (item) => this.#tell(item, signal))
    return GroupChatAgentResponse({ items, said: [response.chatMessage], untold: NO_USAGE })
  }

  async #teamTurn(
    team: Team,
    { messages: news }: GroupChatRequestPublish,
    signal: AbortSignal,
  ): Promise<Message> {
    const options = { signal, outputTaskMessages: false }
    const stream = team.runStream(news.length === 0 ? undefined : news, options)
    const { messages, usage } = await drain(stream, async (item) => {
      if (item.type !== "TaskResult") await this.#tell(item, signal)
    })
    return GroupChatAgentResponse({
      items: messages,
      said: messages.filter(isChatMessage),
      untold: hiddenUsage(usage, messages),
    })
  }

  /** Waits until the reader has it, so that the turn is not ahead of who watches it. */
  async #tell(message: ChatItem, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    await this.send(GroupChatMessage({ message }), this.#output)
  }
}
