import type { CreateResult } from "./create-result.ts"
import type { AssistantMessage } from "./messages.ts"

/** A model's answer as a message of the conversation. */
export function assistantMessage(result: CreateResult, source: string): AssistantMessage {
  const { content, thought, thoughtSignature } = result
  return {
    type: "AssistantMessage",
    content,
    ...(thought === undefined ? {} : { thought }),
    ...(thoughtSignature === undefined ? {} : { thoughtSignature }),
    source,
  }
}
