import type { TaskResult } from "../../chat/task/index.ts"
import type { ChatCompletionClient } from "../../models/index.ts"
import type { AskPerson } from "../approval/ask-approval.ts"
import type { Config } from "../config/load-config.ts"
import { exitCodeOf } from "./answer-of.ts"
import type { RunOptions } from "./job-options.ts"
import { JobFolder } from "./job-folder.ts"
import { type At, approvalFor, openJobExecutor } from "./job-setup.ts"
import { makeJob } from "./make-job.ts"
import { formatJson } from "./json-result.ts"
import type { Annotate, RecordedRun } from "./recorded-executor.ts"
import { summarizeRuns } from "./run-record.ts"
import { type ViewMode, showRun } from "./show-run.ts"
import { tellOutputs } from "./tell-outputs.ts"
import type { WrittenOutput } from "./write-outputs.ts"

export interface RunTaskOptions {
  readonly task: string
  readonly client: ChatCompletionClient
  readonly config: Config
  readonly options: RunOptions
  /** Copied into the folder of the code. */
  readonly files: readonly string[]
  readonly maxTurns: number
  readonly ask: AskPerson | undefined
  /** Whether it is shown what was asked. @default false, but in JSON */
  readonly showsTask?: boolean | undefined
  /** Where things are shown. @default by what stdout is, and --json */
  readonly mode?: ViewMode | undefined
  readonly annotate?: Annotate | undefined
  /** Tells what files were written. @default on stderr */
  readonly tell?: ((line: string) => void) | undefined
}

export interface TaskEnd {
  readonly result: TaskResult
  readonly runs: readonly RecordedRun[]
  readonly written: readonly WrittenOutput[]
}

/** Lets a model work on a task, shows what happens, and brings out the files. */
export async function runTask(given: RunTaskOptions, at: At): Promise<TaskEnd> {
  const { task, client, config, options, maxTurns, ask } = given
  const { output, progress, signal } = at
  const tell = given.tell ?? ((line: string) => output.note(line))
  const mode = given.mode ?? modeFor(options, at)
  await using folder = await JobFolder.make(given.files)
  const workDir = options.workDir ?? folder.path
  await using executor = await openJobExecutor(
    options,
    config,
    { isolation: "run", workDir, annotate: given.annotate },
    at,
  )
  const { sandbox } = executor.describe()
  const decide = approvalFor(options, config, executor, { output, ask })
  const prompt = {
    sandbox,
    policy: executor.policy,
    isolation: "run",
    files: folder.given,
    systemMessage: config.system_message,
  } as const
  const job = makeJob({ client, executor, prompt, maxTurns, decide })
  let written: readonly WrittenOutput[] = []
  const bringOut = async (): Promise<void> => {
    written = await tellOutputs(await folder.made(), options.out, tell)
  }
  progress.clear()
  let result: TaskResult
  try {
    const outputTaskMessages = given.showsTask ?? mode === "json"
    result = await showRun(
      job.runStream(task, { signal, outputTaskMessages }),
      { mode, runs: () => executor.runs },
      at,
    )
  } catch (error) {
    // What was made until then may be what was wanted.
    await bringOut()
    throw error
  }
  await bringOut()
  const { runs } = executor
  if (mode === "json") output.print(formatJson(result, { runs, written, sandbox: executor.describe() }))
  else {
    const summary = summarizeRuns(runs)
    if (summary !== undefined) tell(summary)
  }
  output.exitCode = exitCodeOf(result, maxTurns)
  return { result, runs, written }
}

function modeFor({ json }: RunOptions, { output }: At): ViewMode {
  if (json) return "json"
  return output.stdout.isTerminal ? "all" : "answer"
}
