import type { TaskResult } from "../../chat/task/index.ts"
import type { ExecutorDescription } from "../../executors/index.ts"
import { jsonLine } from "../../internal/safe-text.ts"
import { answerText } from "./answer-of.ts"
import type { RecordedRun } from "./recorded-executor.ts"
import type { WrittenOutput } from "./write-outputs.ts"

/** The last line of --json. What was said is in the lines before it. */
export function formatJson(
  result: TaskResult,
  {
    runs,
    written,
    sandbox: { sandbox, because, tried },
  }: {
    readonly runs: readonly RecordedRun[]
    readonly written: readonly WrittenOutput[]
    readonly sandbox: ExecutorDescription
  },
): string {
  const { type, stopReason, stopKind, usage } = result
  return jsonLine({
    type,
    answer: answerText(result),
    stopReason,
    stopKind,
    usage,
    runs,
    files: written,
    chosen: { sandbox, because, tried },
  })
}
