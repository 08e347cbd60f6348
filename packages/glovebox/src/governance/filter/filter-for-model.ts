import type { FunctionExecutionResult, LLMMessage } from "../../models/messages.ts"

interface ModelTextRules {
  apply(text: string, field: string): string
  mark(text: string, origin: string): string
}

/** The messages as a model should see them. */
export function filterForModel(messages: readonly LLMMessage[], rules: ModelTextRules): LLMMessage[] {
  return messages.map((message, index) => filterOne(message, `messages[${index}].content`, rules))
}

function filterOne(message: LLMMessage, field: string, rules: ModelTextRules): LLMMessage {
  if (message.type === "SystemMessage") return message
  if (message.type === "FunctionExecutionResultMessage") {
    return { ...message, content: message.content.map((result) => filterResult(result, field, rules)) }
  }
  if (message.type === "UserMessage") {
    const { content, untrusted } = message
    const clean = (text: string): string => {
      const applied = rules.apply(text, field)
      return untrusted === undefined ? applied : rules.mark(applied, untrusted)
    }
    if (typeof content === "string") return { ...message, content: clean(content) }
    return { ...message, content: content.map((part) => (typeof part === "string" ? clean(part) : part)) }
  }
  if (typeof message.content === "string") return { ...message, content: rules.apply(message.content, field) }
  // A call is told of or blocked, and stays as the model wrote it: its arguments must remain JSON.
  for (const call of message.content) rules.apply(call.arguments, field)
  return message
}

function filterResult(
  result: FunctionExecutionResult,
  field: string,
  rules: ModelTextRules,
): FunctionExecutionResult {
  return { ...result, content: rules.mark(rules.apply(result.content, field), result.name) }
}
