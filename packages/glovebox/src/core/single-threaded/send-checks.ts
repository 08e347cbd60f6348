import { describe } from "../../internal/describe.ts"
import { type AgentId, checkAgentId, formatAgentId } from "../agent-id.ts"
import type { ExpectReply, PublishOptions, SendOptions } from "../agent-runtime.ts"
import type { Reply } from "../agent.ts"
import { isSavingState } from "../ambient-scope.ts"
import { GloveboxError } from "../glovebox-error.ts"
import {
  type AnyMessageType,
  type Message,
  type MessageType,
  checkMessage,
  checkMessageType,
  messageTypeOf,
} from "../message.ts"
import { type TopicId, checkTopicId } from "../topic-id.ts"
import { checkSignal, checkTimeout } from "./runtime-options.ts"

/** Checks what `send` was given. */
export function checkSend(message: Message, options: SendOptions & Partial<ExpectReply<object>>): void {
  checkMessage(message)
  checkOrigin(options)
  checkTimeout("timeoutMs", options.timeoutMs)
  if (options.expect !== undefined) checkMessageType(options.expect)
  options.signal?.throwIfAborted()
  if (!isSavingState()) return
  throw new GloveboxError(
    "RUNTIME_STATE",
    "An agent cannot send while its state is saved or loaded, because no message is delivered meanwhile.",
  )
}

/** Checks what `publish` was given. */
export function checkPublish(message: Message, topic: TopicId, options: PublishOptions): void {
  checkMessage(message)
  checkTopicId(topic)
  checkOrigin(options)
  options.signal?.throwIfAborted()
}

/** Lets only replies of the expected type through. */
export function expecting(
  expected: MessageType,
  recipient: AgentId,
  resolve: (reply: Reply) => void,
  reject: (error: unknown) => void,
): (reply: Reply) => void {
  return (reply) =>
    expected.is(reply) ? resolve(reply) : reject(unexpectedReply(recipient, expected, reply))
}

function checkOrigin({ messageId, sender, signal }: PublishOptions): void {
  if (sender !== undefined) checkAgentId(sender)
  checkSignal(signal)
  if (messageId === undefined || (typeof messageId === "string" && messageId !== "")) return
  throw new GloveboxError("OPTION_INVALID", `messageId is ${describe(messageId)}. Pass a non-empty string.`)
}

function unexpectedReply(recipient: AgentId, expected: AnyMessageType, reply: Reply): GloveboxError {
  const got = messageTypeOf(reply)?.typeName ?? "nothing"
  return new GloveboxError(
    "REPLY_INVALID",
    `Agent ${formatAgentId(recipient)} answered ${got} where ${expected.typeName} was expected.`,
  )
}
