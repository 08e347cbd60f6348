import { isChatMessage, toText } from "../messages/index.ts"
import type { TaskResult } from "./task-result.ts"

/**
 * What was said last, as text: the answer. Empty where a run ended without a word, and where it waits for an approval.
 *
 * @example
 * console.log(answerText(await agent.run("What is the capital of Norway?")))
 */
export function answerText({
  messages,
  stopKind,
}: Pick<TaskResult, "messages"> & Partial<Pick<TaskResult, "stopKind">>): string {
  // What was said before it is no answer to it.
  if (stopKind === "suspended") return ""
  const last = messages.at(-1)
  return last && isChatMessage(last) ? toText(last) : ""
}
