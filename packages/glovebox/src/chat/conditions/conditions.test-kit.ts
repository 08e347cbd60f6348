import { type ChatItem, TextMessage } from "../messages/index.ts"
import type { TerminationCondition } from "./index.ts"

export const say = (content: string, source = "writer"): TextMessage => TextMessage({ content, source })

/** Shows the condition what was said; why it fires, or undefined. */
export async function tell(
  condition: TerminationCondition,
  ...messages: readonly ChatItem[]
): Promise<string | undefined> {
  return (await condition.check({ messages, isTask: false }))?.content
}

/** Shows the condition the task. */
export async function task(
  condition: TerminationCondition,
  ...messages: readonly ChatItem[]
): Promise<string | undefined> {
  return (await condition.check({ messages, isTask: true }))?.content
}
