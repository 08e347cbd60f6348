import type { FunctionCall, LLMMessage } from "../../models/index.ts"
import type { Redactor } from "../redaction/redactor.ts"

/** A message on its way to a model, without secrets. What a provider signed stays as it is. */
export function redactMessage(message: LLMMessage, redactor: Redactor): LLMMessage {
  switch (message.type) {
    case "SystemMessage":
      return { ...message, content: redactor.text(message.content) }
    case "UserMessage":
      return {
        ...message,
        content:
          typeof message.content === "string"
            ? redactor.text(message.content)
            : message.content.map((part) => (typeof part === "string" ? redactor.text(part) : part)),
      }
    case "AssistantMessage":
      return {
        ...message,
        content:
          typeof message.content === "string"
            ? redactor.text(message.content)
            : message.content.map((call) => redactCall(call, redactor)),
        // A signature is of the very words: signed ones came from the provider, and go back to it alone.
        ...(message.thought !== undefined &&
          message.thoughtSignature === undefined && { thought: redactor.text(message.thought) }),
      }
    case "FunctionExecutionResultMessage":
      return {
        ...message,
        content: message.content.map((result) => ({ ...result, content: redactor.text(result.content) })),
      }
    default:
      return message satisfies never
  }
}

// As data first, so that it stays JSON.
function redactCall(call: FunctionCall, redactor: Redactor): FunctionCall {
  const clean = redactor.text(call.arguments)
  if (clean === call.arguments) return call
  try {
    return { ...call, arguments: JSON.stringify(redactor.value(JSON.parse(call.arguments))) }
  } catch {
    return { ...call, arguments: clean }
  }
}
