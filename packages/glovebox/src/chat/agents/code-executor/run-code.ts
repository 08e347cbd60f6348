import { z } from "zod"
import { type ErrorCode, GloveboxError } from "../../../core/index.ts"
import type { CodeBlock, CodeExecutor, CodeResult } from "../../../executors/index.ts"
import { withoutResult } from "../../../executors/result-of.ts"
import { abortableStream } from "../../../internal/abortable-stream.ts"
import { formatIssues } from "../../../internal/format-issues.ts"
import { denialOf } from "../../../tools/code-execution/denial-of.ts"
import { CodeOutputEvent } from "../../messages/index.ts"

/**
 * The result, or why the code cannot run as it is written, which its writer can mend, or that an executor which asks for
 * leave itself did not get it.
 */
export type RunOutcome =
  | { readonly result: CodeResult }
  | { readonly refusal: string }
  | { readonly denial: string }

// Nothing has run then, and another sandbox is not needed, but other code.
const REFUSALS = new Set<ErrorCode>(["LANGUAGE_UNKNOWN", "LANGUAGE_UNAVAILABLE", "CODE_FILE_REFUSED"])

// As long as an engine takes to end a sandbox; after that it is left to its executor.
const ENDING_MS = 4_000

// Executors may be anybody's: what is read of a result, here and where it is told.
const resultSchema = z.looseObject({
  exitCode: z.number(),
  output: z.string(),
  termination: z.string(),
  blocks: z.array(z.looseObject({})),
  artifacts: z.array(z.looseObject({})),
  sandbox: z.looseObject({ kind: z.string() }),
})

/** Runs the blocks in one call; yields what they print while they do. */
export async function* runCode(
  executor: CodeExecutor,
  blocks: readonly CodeBlock[],
  { source, signal }: { readonly source: string; readonly signal: AbortSignal },
): AsyncGenerator<CodeOutputEvent, RunOutcome, undefined> {
  let result: CodeResult | undefined
  try {
    const run = executor.stream(blocks, { signal })
    for await (const event of abortableStream(run, { signal, graceMs: ENDING_MS })) {
      if (event.type === "finished") ({ result } = event)
      else if ((event.type === "stdout" || event.type === "stderr") && event.text !== "") {
        yield CodeOutputEvent({ source, content: event.text, stream: event.type, block: event.block })
      }
    }
  } catch (error) {
    if (GloveboxError.is(error) && REFUSALS.has(error.code)) return { refusal: error.message }
    const denial = denialOf(error)
    if (denial !== undefined) return { denial }
    throw error
  }
  return { result: checkResult(result) }
}

function checkResult(result: CodeResult | undefined): CodeResult {
  if (!result) throw withoutResult()
  const { error } = resultSchema.safeParse(result)
  if (!error) return result
  throw new GloveboxError(
    "SANDBOX_LOST",
    `The run ended with a result that is none: ${formatIssues(error.issues)}`,
  )
}
