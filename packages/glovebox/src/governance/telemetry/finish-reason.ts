import type { FinishReason } from "../../models/create-result.ts"

/** A reason to stop, in the conventions' words. */
export function finishReason(reason: FinishReason): string {
  return reason === "function_calls" ? "tool_call" : reason
}
