import type { Image, LLMMessage } from "../../../models/index.ts"
import { type ChatMessage, MultiModalMessage, TextMessage } from "../../messages/index.ts"

/** What an inner team is asked: what is new, after one message with what was said before. */
export function societyTask(
  name: string,
  earlier: readonly LLMMessage[],
  news: readonly ChatMessage[],
): readonly ChatMessage[] | undefined {
  const past = earlier.flatMap(partsOf)
  if (past.length === 0) return news.length === 0 ? undefined : news
  const parts = ["This was said before:", ...past]
  // One message, because the team's conditions may count them.
  const context = parts.every((part) => typeof part === "string")
    ? TextMessage({ content: parts.join("\n\n"), source: name })
    : MultiModalMessage({ content: parts, source: name })
  return [context, ...news]
}

/** A handoff was for whoever is outside: a team inside would look for its target among its own. */
export function withoutHandoff(message: ChatMessage): ChatMessage {
  if (message.type !== "HandoffMessage") return message
  const { id, source, modelsUsage, metadata, createdAt, context } = message
  const told = context.flatMap(partsOf).filter((part) => typeof part === "string")
  return TextMessage({
    id,
    source,
    modelsUsage,
    metadata,
    createdAt,
    content: [...told, message.content].join("\n\n"),
  })
}

/** For a model that sees no images. */
export function withoutImages(message: LLMMessage): LLMMessage {
  if (message.type !== "UserMessage" || typeof message.content === "string") return message
  const parts = message.content.map((part) =>
    typeof part === "string" ? part : `[image: ${part.mediaType}]`,
  )
  return { ...message, content: parts.join("\n") }
}

function partsOf(message: LLMMessage): (string | Image)[] {
  switch (message.type) {
    case "UserMessage":
      return typeof message.content === "string"
        ? [`${message.source}: ${message.content}`]
        : [`${message.source}:`, ...message.content]
    case "AssistantMessage":
      return typeof message.content === "string" ? [`${message.source}: ${message.content}`] : []
    case "FunctionExecutionResultMessage":
      return message.content.map(({ name, content }) => `${name}: ${content}`)
    case "SystemMessage":
      break
  }
  return []
}
