import type { TaskResult } from "../../chat/task/index.ts"
import type { ExecutorDescription } from "../../executors/index.ts"
import type { AuditPlace } from "../governance/command-governance.ts"
import { answerText } from "./answer-of.ts"
import type { RecordedRun } from "./recorded-executor.ts"
import type { WrittenOutput } from "./write-outputs.ts"

/** The last line of --json. What was said is in the lines before it. */
export function jsonResult(
  result: TaskResult,
  {
    runs,
    written,
    sandbox: { sandbox, because, tried },
    audit,
  }: {
    readonly runs: readonly RecordedRun[]
    readonly written: readonly WrittenOutput[]
    readonly sandbox: ExecutorDescription
    readonly audit: AuditPlace | undefined
  },
): object {
  const { type, stopReason, stopKind, usage } = result
  return {
    type,
    answer: answerText(result),
    stopReason,
    stopKind,
    usage,
    runs,
    files: written,
    chosen: { sandbox, because, tried },
    audit,
  }
}
