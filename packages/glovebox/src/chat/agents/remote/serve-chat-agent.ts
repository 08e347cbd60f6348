import { type AgentId, type AgentRuntime, GloveboxError } from "../../../core/index.ts"
import { describe } from "../../../internal/describe.ts"
import type { AnyChatMessageType } from "../../messages/index.ts"
import { WireItems } from "../../messages/wire-items.ts"
import type { ChatAgent } from "../chat-agent.ts"
import { REMOTE_CHAT_MESSAGES } from "./remote-chat-messages.ts"
import { ServedChatAgent } from "./served-chat-agent.ts"

export interface ServeChatAgentOptions {
  /** Types of messages of one's own that it hears. @default [] */
  readonly customMessageTypes?: readonly AnyChatMessageType[] | undefined
}

/**
 * Makes a chat agent reachable for teams elsewhere, who have a `RemoteChatAgent` in its place. Each key of the type is an
 * agent of its own, with its own conversation.
 *
 * @example
 * await serveChatAgent(worker, "writer", () => new AssistantAgent({ name: "writer", modelClient }))
 */
export async function serveChatAgent(
  runtime: AgentRuntime,
  type: string,
  make: (id: AgentId) => ChatAgent | Promise<ChatAgent>,
  { customMessageTypes }: ServeChatAgentOptions = {},
): Promise<void> {
  const wire = new WireItems(customMessageTypes)
  for (const messageType of REMOTE_CHAT_MESSAGES) runtime.addMessageType(messageType)
  const build = async (id: AgentId): Promise<ServedChatAgent> => {
    const agent: unknown = await make(id)
    if (isChatAgent(agent)) return new ServedChatAgent(agent, wire)
    throw new GloveboxError("AGENT_INVALID", `${describe(agent)} is no chat agent, and cannot be served.`)
  }
  await runtime.register(type, build, { concurrency: Number.POSITIVE_INFINITY })
}

function isChatAgent(value: unknown): value is ChatAgent {
  return typeof value === "object" && value !== null && "onMessagesStream" in value
}
