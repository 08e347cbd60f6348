import { imageTokens } from "./image-tokens.ts"
import type { LLMMessage } from "./messages.ts"
import type { ToolSchema } from "./tool-schema.ts"

// What the format around each message, and before the answer, costs with OpenAI's models; others are close.
const PER_MESSAGE = 3
const PER_REQUEST = 3

/** Counts a request's tokens with the given count of a text. */
export function countMessageTokens(
  messages: readonly LLMMessage[],
  tools: readonly ToolSchema[],
  countText: (text: string) => number,
): number {
  let tokens = PER_REQUEST
  for (const message of messages) {
    tokens += PER_MESSAGE
    for (const part of partsOf(message))
      tokens += typeof part === "string" ? countText(part) : imageTokens(part)
  }
  for (const { name, description = "", parameters = {} } of tools) {
    tokens += PER_MESSAGE + countText(`${name}\n${description}\n${JSON.stringify(parameters)}`)
  }
  return tokens
}

function partsOf(message: LLMMessage): readonly (string | Parameters<typeof imageTokens>[0])[] {
  switch (message.type) {
    case "SystemMessage":
      return [message.content]
    case "UserMessage":
      return [message.source, ...(typeof message.content === "string" ? [message.content] : message.content)]
    case "AssistantMessage":
      return typeof message.content === "string"
        ? [message.content]
        : [message.thought ?? "", ...message.content.flatMap((call) => [call.name, call.arguments])]
    case "FunctionExecutionResultMessage":
    default:
      return message.content.map(({ content }) => content)
  }
}
