import { type AgentId, GloveboxError, type Message, RoutedAgent } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { type ChatItem, type ChatMessage, isChatMessage, isChunk } from "../messages/index.ts"
import { sumUsage } from "../task/index.ts"
import {
  GroupChatAgentResponse,
  GroupChatMessage,
  GroupChatRequestPublish,
  GroupChatReset,
} from "./group-chat-messages.ts"
import { type Participant, isChatAgent } from "./participant.ts"

// How long a turn that was cancelled may go on before the next one is refused.
const LEFTOVER_MS = 5_000

/** A participant as an agent of the runtime: asked to speak, it tells what happens and answers with its turn. */
export class ChatAgentContainer extends RoutedAgent {
  readonly #participant: Participant
  readonly #output: AgentId
  /** A turn whose agent has not come back from it. */
  #leftover: Promise<void> | undefined

  constructor(participant: Participant, output: AgentId) {
    super(participant.description)
    this.#participant = participant
    this.#output = output
    this.on(GroupChatRequestPublish, async ({ messages }, { signal }) => this.#turn(messages, signal))
    this.on(GroupChatReset, async (_message, { signal }) => {
      await this.#comeBack(signal)
      await (isChatAgent(participant) ? participant.onReset({ signal }) : participant.reset())
    })
  }

  async #turn(messages: readonly ChatMessage[], signal: AbortSignal): Promise<Message> {
    await this.#comeBack(signal)
    const participant = this.#participant
    const turn = isChatAgent(participant)
      ? this.#agentTurn(participant.onMessagesStream(messages, { signal }), signal)
      : this.#teamTurn(
          participant.runStream(messages.length === 0 ? undefined : messages, {
            signal,
            outputTaskMessages: false,
          }),
          signal,
        )
    const leftover = turn.then(
      () => {},
      () => {},
    )
    this.#leftover = leftover
    void leftover.then(() => {
      if (this.#leftover === leftover) this.#leftover = undefined
    })
    // An agent that does not look at its signal holds nobody up.
    return abortable(turn, signal)
  }

  async #agentTurn(
    stream: ReturnType<Extract<Participant, { onMessagesStream: unknown }>["onMessagesStream"]>,
    signal: AbortSignal,
  ): Promise<Message> {
    for await (const item of stream) {
      if (item.type !== "Response") {
        await this.#tell(item, signal)
        continue
      }
      const { chatMessage, innerMessages } = item
      if (!isChatMessage(chatMessage)) break
      await this.#tell(chatMessage, signal)
      const items = [...innerMessages.filter((inner) => !isChunk(inner)), chatMessage]
      return GroupChatAgentResponse({ items, said: [chatMessage], usage: sumUsage(items) })
    }
    throw new GloveboxError(
      "AGENT_INVALID",
      `Agent ${this.#participant.name} ended its turn without a response. Yield one last: response(message).`,
    )
  }

  async #teamTurn(stream: ReturnType<Participant["runStream"]>, signal: AbortSignal): Promise<Message> {
    for await (const item of stream) {
      if (item.type !== "TaskResult") {
        await this.#tell(item, signal)
        continue
      }
      const { messages, usage } = item
      return GroupChatAgentResponse({ items: messages, said: messages.filter(isChatMessage), usage })
    }
    throw new GloveboxError("AGENT_INVALID", `Team ${this.#participant.name} ended without a result.`)
  }

  /** Waits until the reader has it, so that the turn is not ahead of who watches it. */
  async #tell(message: ChatItem, signal: AbortSignal): Promise<void> {
    await this.send(GroupChatMessage({ message }), this.#output, { signal })
  }

  async #comeBack(signal: AbortSignal): Promise<void> {
    const leftover = this.#leftover
    if (!leftover) return
    const { name } = this.#participant
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(
          new GloveboxError(
            "RUN_ACTIVE",
            `${name} still works on a turn that was cancelled: it does not look at its signal.`,
          ),
        )
      }, LEFTOVER_MS)
    })
    try {
      await abortable(Promise.race([leftover, late]), signal)
    } finally {
      clearTimeout(timer)
    }
  }
}
