import type { LLMMessage } from "../../../models/index.ts"

/** The messages with words for images, for a model that does not see. */
export function withoutImages(messages: readonly LLMMessage[]): readonly LLMMessage[] {
  return messages.map((message) => {
    if (message.type !== "UserMessage" || typeof message.content === "string") return message
    const parts = message.content.map((part) =>
      typeof part === "string" ? part : `[image: ${part.mediaType}]`,
    )
    return { ...message, content: parts.join("\n") }
  })
}
