import type Anthropic from "@anthropic-ai/sdk"
import type { Image } from "../image.ts"
import type { AssistantMessage, LLMMessage } from "../messages.ts"
import { readSignature } from "./thought-signature.ts"

type MessageParam = Anthropic.MessageParam
type Block = Anthropic.ContentBlockParam

/** The conversation as the API takes it: turns of user and assistant, and the instructions apart. */
export function toAnthropicMessages(messages: readonly LLMMessage[]): {
  readonly system: string | undefined
  readonly messages: MessageParam[]
} {
  const turns: { role: "user" | "assistant"; content: Block[] }[] = []
  const instructions: string[] = []
  for (const message of messages) {
    if (message.type === "SystemMessage") {
      // The API has one place for them, wherever they stood.
      instructions.push(message.content)
      continue
    }
    const role = message.type === "AssistantMessage" ? "assistant" : "user"
    const blocks = toBlocks(message)
    const last = turns.at(-1)
    // One turn each: results of tools, and what the user says then, belong together.
    if (last?.role === role) last.content.push(...blocks)
    else turns.push({ role, content: blocks })
  }
  const system = instructions.join("\n")
  return { system: system.trim() === "" ? undefined : system, messages: turns.map(finish) }
}

function toBlocks(message: Exclude<LLMMessage, { type: "SystemMessage" }>): Block[] {
  switch (message.type) {
    case "UserMessage": {
      const parts = typeof message.content === "string" ? [message.content] : message.content
      return parts.flatMap((part) => (typeof part === "string" ? textBlock(part) : [imageBlock(part)]))
    }
    case "AssistantMessage":
      return assistantBlocks(message)
    case "FunctionExecutionResultMessage":
    default:
      return message.content.map(({ callId, content, isError }) => ({
        type: "tool_result",
        tool_use_id: callId,
        content,
        ...(isError === true ? { is_error: true } : {}),
      }))
  }
}

function assistantBlocks({ content, thought, thoughtSignature }: AssistantMessage): Block[] {
  // Reasoning goes back as it came, with its signature, or not at all: the API refuses any other.
  const signed = readSignature(thoughtSignature)
  if (typeof content === "string") return [...(signed ?? []), ...textBlock(content)]
  return [
    ...(signed ?? textBlock(thought ?? "")),
    ...content.map(({ id, name, arguments: args }) => ({
      type: "tool_use" as const,
      id,
      name,
      input: parseInput(args),
    })),
  ]
}

/** The API takes no text that is blank. */
function textBlock(text: string): Block[] {
  return text.trim() === "" ? [] : [{ type: "text", text }]
}

function imageBlock({ mediaType, data }: Image): Block {
  return { type: "image", source: { type: "base64", media_type: mediaType, data } }
}

function parseInput(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
  } catch {
    // The model wrote no JSON, and was told so by the result.
  }
  return text.trim() === "" ? {} : { arguments: text }
}

function finish(
  { role, content }: { role: "user" | "assistant"; content: Block[] },
  index: number,
  turns: unknown[],
): MessageParam {
  // A turn without content is refused, and dropping one would put two of the other side together.
  if (content.length === 0) return { role, content: "(nothing)" }
  const last = content.at(-1)
  // Its own last words must not end in a space.
  if (role === "assistant" && index === turns.length - 1 && last?.type === "text") {
    return { role, content: [...content.slice(0, -1), { ...last, text: last.text.trimEnd() }] }
  }
  return { role, content }
}
