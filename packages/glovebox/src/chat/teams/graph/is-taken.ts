import { GloveboxError } from "../../../core/index.ts"
import { describe } from "../../../internal/describe.ts"
import { errorMessage } from "../../../internal/error-message.ts"
import { type ChatMessage, toText } from "../../messages/index.ts"
import type { DiGraphEdge } from "./di-graph.ts"

/** Whether an edge is taken after what its source said last. */
export function isTaken(
  source: string,
  { target, condition }: DiGraphEdge,
  message: ChatMessage | undefined,
): boolean {
  if (condition === undefined) return true
  // A team inside the graph may end without a word.
  if (message === undefined) return false
  if (typeof condition === "string") return toText(message).includes(condition)
  const edge = `The condition of the edge from ${source} to ${target}`
  let answer: unknown
  try {
    answer = condition(message)
  } catch (error) {
    throw new GloveboxError("GRAPH_INVALID", `${edge} failed: ${errorMessage(error)}`, { cause: error })
  }
  if (typeof answer === "boolean") return answer
  // A promise would count as true.
  throw new GloveboxError("GRAPH_INVALID", `${edge} gave ${describe(answer)}, not true or false.`)
}
