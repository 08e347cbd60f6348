import { z } from "zod"
import { defineMessage } from "../../../core/index.ts"
import type { StopKind } from "../../task/index.ts"

// Fields of one word, so that they read well in any language. What is said is made again by whoever gets it.
const itemsSchema = z.array(z.unknown()).readonly()

/** To an agent elsewhere: here is what is new to you; speak. */
export const RemoteChatTurn = defineMessage(
  "RemoteChatTurn",
  z.object({
    messages: itemsSchema,
    /** Whether its last turn was not heard to its end, so that the messages of it come again. */
    retry: z.boolean().default(false),
    /** The turn's own id. */
    turn: z.string(),
    /** To whom it may tell what happens, as it happens, with `RemoteChatItem`. */
    output: z.object({ type: z.string(), key: z.string() }).nullish(),
  }),
)
export type RemoteChatTurn = ReturnType<typeof RemoteChatTurn>

/** From it: this happened. */
export const RemoteChatItem = defineMessage(
  "RemoteChatItem",
  z.object({ turn: z.string(), item: z.unknown() }),
)

/** Its reply: what it says, and what happened before it said it. One that waits for approvals names their requests. */
export const RemoteChatResponse = defineMessage(
  "RemoteChatResponse",
  z.object({
    message: z.unknown(),
    items: itemsSchema.nullish(),
    pending: z.array(z.string()).readonly().nullish(),
    stop: z
      .object({ kind: z.custom<StopKind>((value) => typeof value === "string"), reason: z.string() })
      .partial()
      .nullish(),
  }),
)

/** To it: forget the conversation. */
export const RemoteChatReset = defineMessage("RemoteChatReset", z.object({}))

/** To it: pause in the middle of a turn, or go on. */
export const RemoteChatPause = defineMessage("RemoteChatPause", z.object({ paused: z.boolean() }))

export const REMOTE_CHAT_MESSAGES = [
  RemoteChatTurn,
  RemoteChatItem,
  RemoteChatResponse,
  RemoteChatReset,
  RemoteChatPause,
] as const
