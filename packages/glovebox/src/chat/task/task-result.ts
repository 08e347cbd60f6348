import type { RequestUsage } from "../../models/index.ts"
import type { ChatItem, ChatMessage } from "../messages/index.ts"

/** Why it ended, to branch on; `stopReason` says it in words. */
export type StopKind =
  /** The agent gave its answer. */
  | "answer"
  /** The agent passed the word to somebody. */
  | "handoff"
  /** The agent may not ask its model for tools more often, or call more of them. */
  | "tool-rounds"
  | "tool-calls"
  /** The agent's model has used the tokens it may use in a turn. */
  | "tokens"
  /** The agent's time for a turn is over. */
  | "time"
  /** A termination condition of the team held. */
  | "condition"
  /** The team had as many turns as it may have. */
  | "max-turns"
  /** Nobody is left to speak: the graph is at its end, or the task is solved. */
  | "completed"
  /** Something waits for an approval: save the state, and go on with `run()` without a task when it is answered. */
  | "suspended"

/** What an agent says to messages, with what happened before it said it. */
export interface Response {
  readonly type: "Response"
  readonly chatMessage: ChatMessage
  /** Events and messages before it, without pieces. */
  readonly innerMessages: readonly ChatItem[]
  /** @default "answer", or "handoff" for a HandoffMessage */
  readonly stopKind?: StopKind | undefined
  /** @default a sentence for the kind */
  readonly stopReason?: string | undefined
}

/** What came of a task. */
export interface TaskResult {
  readonly type: "TaskResult"
  /** The task, and all that was said and done about it, in order. */
  readonly messages: readonly ChatItem[]
  /** In words, for people. */
  readonly stopReason: string
  readonly stopKind: StopKind
  /** What all model calls of the run used together. */
  readonly usage: RequestUsage
  /** The ids of the requests for approvals that are waited for, where there are any. */
  readonly pending?: readonly string[] | undefined
}

export function response(
  chatMessage: ChatMessage,
  innerMessages: readonly ChatItem[] = [],
  stop: Pick<Response, "stopKind" | "stopReason"> = {},
): Response {
  return { type: "Response", chatMessage, innerMessages, ...stop }
}
