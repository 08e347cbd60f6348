import type { OpenAI } from "openai"
import { type Image, imageDataUri } from "../image.ts"
import type { AssistantMessage, LLMMessage, UserMessage } from "../messages.ts"
import { normalizeName } from "../normalize-name.ts"

type MessageParam = OpenAI.Chat.ChatCompletionMessageParam

export interface MessageRules {
  readonly family: string
  readonly includeNameInMessage?: boolean | undefined
  readonly addNamePrefixes: boolean
}

/** The conversation as the API takes it, with the rules of the model's family. */
export function toOpenAIMessages(messages: readonly LLMMessage[], rules: MessageRules): MessageParam[] {
  const params = messages.flatMap((message) => toParams(message, rules))
  return rules.family.startsWith("claude") ? trimLast(params) : params
}

function toParams(message: LLMMessage, rules: MessageRules): MessageParam[] {
  switch (message.type) {
    case "SystemMessage":
      return [{ role: "system", content: message.content }]
    case "UserMessage":
      return fromUser(message, rules)
    case "AssistantMessage":
      return fromAssistant(message, rules)
    case "FunctionExecutionResultMessage":
    default:
      // The API has no place for a result that is an error; its text has to say so.
      return message.content.map(({ callId, content }) => ({ role: "tool", tool_call_id: callId, content }))
  }
}

function fromUser({ content, source }: UserMessage, rules: MessageRules): MessageParam[] {
  const prefix = rules.addNamePrefixes ? `${source} said:\n` : ""
  const isNamed = rules.includeNameInMessage ?? !/^(?:mistral|ministral|codestral|pixtral)/.test(rules.family)
  const name = isNamed ? { name: normalizeName(source) } : {}
  if (typeof content === "string") {
    const text = speakable(prefix + content, rules)
    return text === undefined ? [] : [{ role: "user", content: text, ...name }]
  }
  const parts = content.flatMap((part) =>
    typeof part === "string" ? textPart(part, rules) : imagePart(part),
  )
  if (prefix !== "") parts.unshift({ type: "text", text: prefix })
  return parts.length === 0 ? [] : [{ role: "user", content: parts, ...name }]
}

function fromAssistant(message: AssistantMessage, rules: MessageRules): MessageParam[] {
  if (typeof message.content === "string") {
    const text = speakable(message.content, rules)
    return text === undefined ? [] : [{ role: "assistant", content: text }]
  }
  return [
    {
      role: "assistant",
      // Null, not absent: some servers want the field.
      content: message.thought ?? null,
      tool_calls: message.content.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: call.name, arguments: call.arguments },
      })),
    },
  ]
}

function textPart(text: string, rules: MessageRules): OpenAI.Chat.ChatCompletionContentPart[] {
  const said = speakable(text, rules)
  return said === undefined ? [] : [{ type: "text", text: said }]
}

function imagePart(image: Image): OpenAI.Chat.ChatCompletionContentPart[] {
  return [{ type: "image_url", image_url: { url: imageDataUri(image) } }]
}

/** Text that the family takes: Gemini none that is empty, Claude none that is blank. */
function speakable(text: string, { family }: MessageRules): string | undefined {
  if (family.startsWith("claude") && text.trim() === "") return undefined
  return family.startsWith("gemini") && text === "" ? " " : text
}

/** Claude refuses a conversation whose last words, its own, end in a space. */
function trimLast(params: MessageParam[]): MessageParam[] {
  const last = params.at(-1)
  if (last?.role !== "assistant" || typeof last.content !== "string") return params
  return [...params.slice(0, -1), { ...last, content: last.content.trimEnd() }]
}
