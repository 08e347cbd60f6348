import { z } from "zod"
import { defineMessage } from "../../core/index.ts"
import { type ChatItem, type ChatMessage, MessageFactory } from "../messages/index.ts"
import type { StopKind } from "../task/index.ts"

const factory = new MessageFactory()

// In one process a message stays the object it is; from the wire it is made again by its type.
const itemSchema = z.unknown().transform((value): ChatItem => factory.create(value))
const itemsSchema = z.array(itemSchema).readonly()
const messagesSchema = z
  .array(z.unknown().transform((value) => factory.create(value) as ChatMessage))
  .readonly()
const usageSchema = z.object({ promptTokens: z.number(), completionTokens: z.number() })

/** To the manager: begin with these messages. */
export const GroupChatStart = defineMessage(
  "GroupChatStart",
  z.object({ messages: messagesSchema, outputTaskMessages: z.boolean() }),
)

/** To a participant: here is what is new to you; speak. */
export const GroupChatRequestPublish = defineMessage(
  "GroupChatRequestPublish",
  z.object({ messages: messagesSchema }),
)

/** To whoever reads the stream. */
export const GroupChatMessage = defineMessage("GroupChatMessage", z.object({ message: itemSchema }))

/** A participant's turn: all that happened in it, and what of that is said to the others. */
export const GroupChatAgentResponse = defineMessage(
  "GroupChatAgentResponse",
  z.object({ items: itemsSchema, said: messagesSchema, usage: usageSchema }),
)

/** To a participant: forget the conversation. */
export const GroupChatReset = defineMessage("GroupChatReset", z.object({}))

/** The manager's reply at the end. */
export const GroupChatTermination = defineMessage(
  "GroupChatTermination",
  z.object({
    stopReason: z.string(),
    stopKind: z.custom<StopKind>((value) => typeof value === "string"),
    usage: usageSchema,
  }),
)

export const GROUP_CHAT_MESSAGES = [
  GroupChatStart,
  GroupChatRequestPublish,
  GroupChatMessage,
  GroupChatAgentResponse,
  GroupChatReset,
  GroupChatTermination,
] as const
