import type { StandardSchemaV1 } from "@standard-schema/spec"
import { z } from "zod"
import { defineMessage } from "../../core/index.ts"
import { isChatItem } from "../messages/index.ts"
import type { StopKind } from "../task/index.ts"

// Made by whoever gets them, who knows the types that are said in the team.
const itemsSchema = z.array(z.unknown()).readonly()
const usageSchema = z.object({ promptTokens: z.number(), completionTokens: z.number() })

/** A schema that has nothing to do where its messages are messages already, as they are in one process. */
function unlessMade<Fields extends object>(
  schema: z.ZodType<Fields>,
  isMade: (fields: Fields) => boolean,
): StandardSchemaV1<Fields, Fields> {
  const whole = schema["~standard"]
  return {
    "~standard": {
      version: 1,
      vendor: "glovebox",
      validate: (value) => (isMade(value as Fields) ? { value: value as Fields } : whole.validate(value)),
    },
  }
}

function areItems(values: unknown): boolean {
  return Array.isArray(values) && values.every(isChatItem)
}

/** To the manager: begin with these messages. */
export const GroupChatStart = defineMessage(
  "GroupChatStart",
  z.object({ messages: itemsSchema, outputTaskMessages: z.boolean() }),
)

/**
 * To a participant: here is what is new to you; speak. After a turn that was not heard, it comes again, with the ids of
 * what was told in it before it had to wait for an approval.
 */
export const GroupChatRequestPublish = defineMessage(
  "GroupChatRequestPublish",
  unlessMade(
    z.object({ messages: itemsSchema, isRetry: z.boolean(), told: z.array(z.string()).readonly() }),
    ({ messages }) => areItems(messages),
  ),
)
export type GroupChatRequestPublish = ReturnType<typeof GroupChatRequestPublish>

/** To whoever reads the stream. */
export const GroupChatMessage = defineMessage(
  "GroupChatMessage",
  unlessMade(z.object({ message: z.unknown() }), ({ message }) => isChatItem(message)),
)

/**
 * A participant's turn: all that happened in it, what of that is said to the others, and the usage that is not told in it.
 * One that waits for approvals names their requests; that is an answer and no error, so that it passes any runtime.
 */
export const GroupChatAgentResponse = defineMessage(
  "GroupChatAgentResponse",
  unlessMade(
    z.object({
      items: itemsSchema,
      said: itemsSchema,
      untold: usageSchema,
      pending: z.array(z.string()).readonly().optional(),
    }),
    ({ items, said }) => areItems(items) && areItems(said),
  ),
)

/** To a participant: forget the conversation. */
export const GroupChatReset = defineMessage("GroupChatReset", z.object({}))

/** The manager's reply at the end. */
export const GroupChatTermination = defineMessage(
  "GroupChatTermination",
  z.object({
    stopReason: z.string(),
    stopKind: z.custom<StopKind>((value) => typeof value === "string"),
    untold: usageSchema,
    pending: z.array(z.string()).readonly(),
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
