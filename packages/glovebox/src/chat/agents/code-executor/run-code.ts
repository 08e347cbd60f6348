import { type ErrorCode, GloveboxError } from "../../../core/index.ts"
import type { CodeBlock, CodeExecutor, CodeResult } from "../../../executors/index.ts"
import { CodeOutputEvent } from "../../messages/index.ts"

/** The result, or why the code cannot run as it is written: something that its writer can mend. */
export type RunOutcome = { readonly result: CodeResult } | { readonly refusal: string }

// Nothing has run then, and another sandbox is not needed, but other code.
const REFUSALS = new Set<ErrorCode>(["LANGUAGE_UNKNOWN", "LANGUAGE_UNAVAILABLE", "CODE_FILE_REFUSED"])

/** Runs the blocks in one call; yields what they print while they do. */
export async function* runCode(
  executor: CodeExecutor,
  blocks: readonly CodeBlock[],
  { source, signal }: { readonly source: string; readonly signal: AbortSignal },
): AsyncGenerator<CodeOutputEvent, RunOutcome, undefined> {
  let result: CodeResult | undefined
  try {
    for await (const event of executor.stream(blocks, { signal })) {
      if (event.type === "finished") ({ result } = event)
      else if ((event.type === "stdout" || event.type === "stderr") && event.text !== "") {
        yield CodeOutputEvent({ source, content: event.text, stream: event.type, block: event.block })
      }
    }
  } catch (error) {
    if (GloveboxError.is(error) && REFUSALS.has(error.code)) return { refusal: error.message }
    throw error
  }
  if (!result) throw new GloveboxError("SANDBOX_LOST", "The run ended without a result.")
  return { result }
}
