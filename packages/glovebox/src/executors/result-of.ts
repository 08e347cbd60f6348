import { GloveboxError } from "../core/index.ts"
import type { ExecuteOptions } from "./code-executor.ts"
import type { CodeResult } from "./code-result.ts"
import type { ExecutionEvent } from "./execution-event.ts"

/** Reads a run's events to its result; for executors that stand before another one. */
export async function resultOf(
  events: AsyncIterable<ExecutionEvent>,
  onOutput?: ExecuteOptions["onOutput"],
): Promise<CodeResult> {
  let result: CodeResult | undefined
  for await (const event of events) {
    if (event.type === "stdout" || event.type === "stderr") onOutput?.(event)
    if (event.type === "finished") ({ result } = event)
  }
  if (result) return result
  throw withoutResult()
}

export function withoutResult(): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", "The run ended without a result.")
}
