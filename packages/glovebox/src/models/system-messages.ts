import { GloveboxError } from "../core/index.ts"
import type { LLMMessage } from "./messages.ts"

/** For models that take one system message: those that stand together become one. */
export function mergeSystemMessages(messages: readonly LLMMessage[]): readonly LLMMessage[] {
  const first = messages.findIndex(({ type }) => type === "SystemMessage")
  if (first === -1) return [...messages]
  let end = first
  const texts: string[] = []
  for (let message = messages[end]; message?.type === "SystemMessage"; message = messages[(end += 1)]) {
    texts.push(message.content)
  }
  const rest = messages.slice(end)
  if (rest.some(({ type }) => type === "SystemMessage")) {
    throw new GloveboxError(
      "MODEL_REQUEST_INVALID",
      "This model takes one system message, but there are several with other messages between them. " +
        "Put them together, or set multipleSystemMessages in modelInfo.",
    )
  }
  return [...messages.slice(0, first), { type: "SystemMessage", content: texts.join("\n") }, ...rest]
}
