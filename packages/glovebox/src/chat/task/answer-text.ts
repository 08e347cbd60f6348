import { isChatMessage, toText } from "../messages/index.ts"
import type { TaskResult } from "./task-result.ts"

/**
 * What was said last, as text: the answer. Empty where a run ended without a word.
 *
 * @example
 * console.log(answerText(await agent.run("What is the capital of Norway?")))
 */
export function answerText({ messages }: Pick<TaskResult, "messages">): string {
  const last = messages.at(-1)
  return last && isChatMessage(last) ? toText(last) : ""
}
