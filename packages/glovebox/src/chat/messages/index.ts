export * from "./agent-events.ts"
export {
  type AgentEvent,
  type ChatItem,
  type ChatMessage,
  isChatItem,
  isChatMessage,
  isChunk,
  toModelMessage,
  toModelText,
  toText,
} from "./chat-message.ts"
export * from "./chat-messages.ts"
export { type CodeRun, toCodeRun } from "./code-run.ts"
export {
  type AnyChatMessageType,
  type ChatMessageType,
  defineAgentEvent,
  defineChatMessage,
} from "./define-chat-message.ts"
export { formatTemplate } from "./format-template.ts"
export { MessageFactory } from "./message-factory.ts"
