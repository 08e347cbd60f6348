import type { ChatMessage } from "./chat-message.ts"

/** The origin, in metadata, of what an agent tells of code. */
export const CODE_EXECUTION = "code-execution"

/** Where a message's words come from, when they are a program's and not those of a model or a person. */
export function programOf(message: ChatMessage): string | undefined {
  if (message.metadata["origin"] === CODE_EXECUTION) return CODE_EXECUTION
  return message.type === "ToolCallSummaryMessage" && message.results.length > 0 ? "tools" : undefined
}
