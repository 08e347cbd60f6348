import { Console } from "../../chat/console/index.ts"
import { type ChatItem, isChatMessage } from "../../chat/messages/index.ts"
import type { RunStream, TaskResult } from "../../chat/task/index.ts"
import { GloveboxError } from "../../core/index.ts"
import type { CodeBlock } from "../../executors/index.ts"
import { answerText } from "./answer-of.ts"
import { withCode } from "./code-view.ts"
import type { At } from "./job-setup.ts"
import type { RecordedRun } from "./recorded-executor.ts"
import { redactItems } from "./redact-items.ts"

/** Everything on stdout; the answer there and the rest on stderr; or JSON lines. */
export type ViewMode = "all" | "answer" | "json"

export interface ShowRunOptions {
  readonly mode: ViewMode
  /** What ran until now. */
  readonly runs: () => readonly RecordedRun[]
  /** Whether code that a tool is to run is left out, because it is shown elsewhere. @default none is */
  readonly hidesCode?: ((block: CodeBlock) => boolean) | undefined
}

/** Shows a run while it happens, and gives its result. */
export async function showRun(
  run: RunStream,
  { mode, runs, hidesCode }: ShowRunOptions,
  { output, signal }: At,
): Promise<TaskResult> {
  const stream = redactItems(run, output.redaction.redactor)
  switch (mode) {
    case "all":
      return Console<TaskResult>(withCode(stream, runs, hidesCode), {
        output: output.stdout.cleanStream,
        signal,
      })
    case "answer": {
      const rest = withoutAnswer(withCode(stream, runs, hidesCode))
      const result = await Console<TaskResult>(rest, { output: output.stderr.cleanStream, signal })
      const answer = answerText(result)
      if (answer !== "") await output.stdout.writeWords(`${answer}\n`, signal)
      return result
    }
    case "json": {
      for await (const item of stream) {
        if (item.type === "TaskResult") return item
        await output.stdout.writeJson(item, signal)
      }
      throw new GloveboxError("RUN_LEFT", "The run ended without a result.")
    }
    default:
      return mode satisfies never
  }
}

/** The stream without what is said last, nor the pieces of it, which is shown elsewhere. */
async function* withoutAnswer(
  stream: AsyncIterable<ChatItem | TaskResult>,
): AsyncGenerator<ChatItem | TaskResult, void, undefined> {
  let held: ChatItem | undefined
  for await (const item of stream) {
    if (item.type === "ModelClientStreamingChunkEvent") continue
    if (held && item.type !== "TaskResult") yield held
    held = item.type !== "TaskResult" && isChatMessage(item) ? item : undefined
    if (!held) yield item
  }
}
