import type { CreateResult } from "../../models/create-result.ts"
import type { FunctionCall, LLMMessage } from "../../models/messages.ts"
import type { Redact } from "./observer.ts"
import { finishReason } from "./finish-reason.ts"

type Part = Readonly<Record<string, unknown>> & { readonly type: string }

/** What went to a model, in the form that the conventions give `gen_ai.input.messages`. */
export function inputMessages(messages: readonly LLMMessage[], redact: Redact): string {
  return JSON.stringify(messages.map((message) => inputMessage(message, redact)))
}

/** What a model answered, in the form of `gen_ai.output.messages`. */
export function outputMessages(
  { content, thought, finishReason: reason }: CreateResult,
  redact: Redact,
): string {
  const parts = answerParts(content, thought, redact)
  return JSON.stringify([{ role: "assistant", parts, finish_reason: finishReason(reason) }])
}

function inputMessage(message: LLMMessage, redact: Redact): object {
  if (message.type === "SystemMessage") return { role: "system", parts: [text(message.content, redact)] }
  if (message.type === "FunctionExecutionResultMessage") {
    const parts = message.content.map(({ callId, content }) => toolResult(redact(callId), redact(content)))
    return { role: "tool", parts }
  }
  const isUser = message.type === "UserMessage"
  const parts = isUser
    ? userParts(message.content, redact)
    : answerParts(message.content, message.thought, redact)
  return { role: isUser ? "user" : "assistant", name: redact(message.source), parts }
}

function userParts(content: Extract<LLMMessage, { type: "UserMessage" }>["content"], redact: Redact): Part[] {
  if (typeof content === "string") return [text(content, redact)]
  // A picture is told of, not kept: nothing can look for secrets in it.
  return content.map((part) =>
    typeof part === "string" ? text(part, redact) : { type: "image", mime_type: part.mediaType },
  )
}

function answerParts(
  content: string | readonly FunctionCall[],
  thought: string | undefined,
  redact: Redact,
): Part[] {
  const reasoning = thought === undefined ? [] : [{ type: "reasoning", content: redact(thought) }]
  const said =
    typeof content === "string" ? [text(content, redact)] : content.map((call) => toolCall(call, redact))
  return [...reasoning, ...said]
}

function toolCall({ id, name, arguments: given }: FunctionCall, redact: Redact): Part {
  return { type: "tool_call", id: redact(id), name: redact(name), arguments: redact(given) }
}

function toolResult(id: string, response: string): Part {
  return { type: "tool_call_response", id, response }
}

function text(content: string, redact: Redact): Part {
  return { type: "text", content: redact(content) }
}
