import { type ChatMessage, isChatMessage, toText } from "../../chat/messages/index.ts"
import type { StopKind, TaskResult } from "../../chat/task/index.ts"
import { EXIT_FAILED } from "../command-failure.ts"

export const EXIT_CAPPED = 3

const CAPS: ReadonlySet<StopKind> = new Set(["tool-rounds", "tool-calls", "tokens", "time", "max-turns"])

/** What was said last: the answer. */
function answerOf({ messages }: TaskResult): ChatMessage | undefined {
  const last = messages.at(-1)
  return last && isChatMessage(last) ? last : undefined
}

export function answerText(result: TaskResult): string {
  const answer = answerOf(result)
  return answer ? toText(answer).trim() : ""
}

/** 0 for an answer, 3 when a cap ended the work, 1 when it was not let go on or said nothing. */
export function exitCodeOf(result: TaskResult, maxTurns: number): number {
  if (CAPS.has(result.stopKind) || isOutOfAttempts(result, maxTurns)) return EXIT_CAPPED
  const answer = answerOf(result)
  return answer === undefined || answerText(result) === "" || answer.metadata["approval"] === "denied"
    ? EXIT_FAILED
    : 0
}

// A model without tools is asked for words after its last attempt, which look like any answer.
function isOutOfAttempts({ messages }: TaskResult, maxTurns: number): boolean {
  const runs = messages.flatMap((item) => (item.type === "CodeExecutionEvent" ? [item.result] : []))
  return runs.length >= maxTurns && runs.at(-1)?.exitCode !== 0
}
