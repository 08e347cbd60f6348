import { GloveboxError, type Message } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"
import type { RequestUsage, UserMessage } from "../../models/index.ts"
import type {
  CodeExecutionEvent,
  CodeGenerationEvent,
  CodeOutputEvent,
  MemoryQueryEvent,
  ModelClientStreamingChunkEvent,
  SelectSpeakerEvent,
  SelectorEvent,
  ThoughtEvent,
  ToolCallExecutionEvent,
  ToolCallRequestEvent,
  ToolOutputEvent,
  UserInputRequestedEvent,
} from "./agent-events.ts"
import type {
  HandoffMessage,
  MultiModalMessage,
  StopMessage,
  StructuredMessage,
  TextMessage,
  ToolCallSummaryMessage,
} from "./chat-messages.ts"
import { type AnyChatMessageType, chatTypeOf } from "./define-chat-message.ts"
import { programOf } from "./program-words.ts"

/** What a message of one's own has besides its fields. */
export interface CustomFields {
  readonly type: string
  readonly id: string
  readonly source: string
  readonly modelsUsage?: RequestUsage | undefined
  readonly metadata: Readonly<Record<string, string>>
  readonly createdAt: string
}

/** What agents say to each other; those of `defineChatMessage` count too. */
export type ChatMessage =
  | TextMessage
  | MultiModalMessage
  | StopMessage
  | HandoffMessage
  | ToolCallSummaryMessage
  | StructuredMessage

/** What happens meanwhile: shown and kept, and not told to other agents. */
export type AgentEvent =
  | ToolCallRequestEvent
  | ToolCallExecutionEvent
  | ToolOutputEvent
  | MemoryQueryEvent
  | UserInputRequestedEvent
  | ModelClientStreamingChunkEvent
  | ThoughtEvent
  | CodeGenerationEvent
  | CodeOutputEvent
  | CodeExecutionEvent
  | SelectSpeakerEvent
  | SelectorEvent

/** What a stream yields. */
export type ChatItem = ChatMessage | AgentEvent

/** True for what agents say to each other, also for messages of one's own. */
export function isChatMessage(value: unknown): value is ChatMessage {
  return chatTypeOf(value)?.kind === "message"
}

/** True for a message or an event. */
export function isChatItem(value: unknown): value is ChatItem {
  return chatTypeOf(value) !== undefined
}

/** True for a piece of something that is told whole later: it is shown, and not kept. */
export function isChunk(value: unknown): boolean {
  return chatTypeOf(value)?.kind === "chunk"
}

/** What a person reads, and what conditions look at. */
export function toText(message: Message): string {
  return typeOf(message).toText(message)
}

/** What another agent's model reads of it, without images. */
export function toModelText(message: Message): string {
  return typeOf(message).toModelText(message)
}

/** What another agent's model is told: words of a user whose name is the source. */
export function toModelMessage(message: ChatMessage): UserMessage {
  const untrusted = programOf(message)
  return {
    type: "UserMessage",
    content: typeOf(message).toModelContent(message),
    source: message.source,
    ...(untrusted === undefined ? {} : { untrusted }),
  }
}

function typeOf(message: Message): AnyChatMessageType {
  const type = chatTypeOf(message)
  if (type) return type
  throw new GloveboxError(
    "MESSAGE_INVALID",
    `${describe(message)} is no message of the chat. Make it with TextMessage({ content, source }) or a type of defineChatMessage.`,
  )
}
