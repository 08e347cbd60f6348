import { GloveboxError, type Message } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"
import type { CustomFields } from "../messages/chat-message.ts"
import { type ChatMessage, TextMessage, isChatMessage } from "../messages/index.ts"

/** A message of the chat, one's own types included. */
export type AnyChatMessage = ChatMessage | (Message & CustomFields)

/** What is to be done: words of the user, or messages. Without a task a run goes on where the last one ended. */
export type Task = string | AnyChatMessage | readonly AnyChatMessage[]

/** The messages that a task consists of; frozen, because agents are given them and results begin with them. */
export function readTask(task: Task | undefined): readonly ChatMessage[] {
  return Object.freeze(task === undefined ? [] : messagesOf(task))
}

function messagesOf(task: Task): ChatMessage[] {
  if (typeof task === "string") return [TextMessage({ content: task, source: "user" })]
  const messages: readonly unknown[] = Array.isArray(task) ? task : [task]
  if (messages.length === 0) {
    throw invalid("The task is an empty list. Pass a text or a message, or nothing to go on.")
  }
  return messages.map((message) => {
    if (isChatMessage(message)) return message
    throw invalid(
      `${describe(message)} is no task. Pass a text, or messages such as TextMessage({ content, source: "user" }).`,
    )
  })
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("TASK_INVALID", message)
}
