import type { TaskResult } from "../../chat/task/index.ts"
import type { ChatCompletionClient } from "../../models/index.ts"
import type { Config } from "../config/load-config.ts"
import { EXIT_FAILED } from "../command-failure.ts"
import { EXIT_CAPPED, answerText, exitCodeOf } from "./answer-of.ts"
import type { RunOptions } from "./job-options.ts"
import { JobFolder } from "./job-folder.ts"
import { type At, type JobRules, openJobExecutor } from "./job-setup.ts"
import { jsonResult } from "./json-result.ts"
import { ANSWERER, makeJob } from "./make-job.ts"
import { freshOut, openOut } from "./out-folder.ts"
import type { Annotate, RecordedRun } from "./recorded-executor.ts"
import { summarizeRuns } from "./run-record.ts"
import { type ViewMode, showRun } from "./show-run.ts"
import { tellOutputs } from "./tell-outputs.ts"
import { type WrittenOutput, writeOutputs } from "./write-outputs.ts"

const NOT_ALL =
  "not all files that the code made were kept: they were too many or too large, or their names are not taken"

export interface RunTaskOptions {
  readonly task: string
  readonly client: ChatCompletionClient
  /** What the record calls the model. */
  readonly model: string
  readonly config: Config
  readonly rules: JobRules
  readonly options: RunOptions
  /** Copied into the folder of the code. */
  readonly files: readonly string[]
  readonly maxTurns: number
  /** Whether it is shown what was asked. @default false, but in JSON */
  readonly showsTask?: boolean | undefined
  /** Where things are shown. @default by what stdout is, and --json */
  readonly mode?: ViewMode | undefined
  readonly annotate?: Annotate | undefined
  /** Whether the end says in a line how much ran. @default true */
  readonly summary?: boolean | undefined
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
  const { task, client, model, config, options, maxTurns, rules } = given
  const { governed, approval } = rules
  const { governance } = governed
  const { output, progress, signal } = at
  const tell = given.tell ?? ((line: string) => output.note(line))
  const mode = given.mode ?? modeFor(options, at)
  const out = options.out === undefined ? undefined : await openOut(options.out)
  await using folder = await JobFolder.make(given.files)
  const workDir = options.workDir ?? folder.path
  await using executor = await openJobExecutor(
    options,
    config,
    { isolation: "run", workDir, annotate: given.annotate },
    rules,
    at,
  )
  const { policy } = executor
  const { sandbox } = executor.describe()
  const prompt = {
    sandbox,
    policy,
    isolation: "run",
    files: folder.given,
    systemMessage: config.system_message,
  } as const
  const job = makeJob({ client, executor, prompt, maxTurns, governance })
  let written: readonly WrittenOutput[] = []
  const bringOut = async (until?: AbortSignal): Promise<void> => {
    const made = await folder.made()
    until?.throwIfAborted()
    if (made.length > 0) {
      const to = out ?? (await freshOut())
      until?.addEventListener("abort", () => tell(`some of the files are in ${to}`), { once: true })
      written = await writeOutputs(to, made, until)
      for (const line of tellOutputs(written, to)) tell(line)
    }
    if (executor.runs.some((run) => run.artifactsTruncated)) tell(NOT_ALL)
  }
  progress.clear()
  const files = folder.digests
  const details = { model, sandbox, policySha256: policy.sha256, ...(files.length > 0 && { files }) }
  const record = await governed.beginRun(task, details, signal)
  let result: TaskResult
  try {
    const outputTaskMessages = given.showsTask ?? mode === "json"
    result = await showRun(
      job.runStream(task, { signal, outputTaskMessages }),
      {
        mode,
        runs: () => executor.runs,
        hidesCode: (block) => approval.shows(governance.gate, ANSWERER, policy, block),
      },
      at,
    )
    await record.end({ ...result, answer: answerText(result) })
  } catch (error) {
    // What was made until then may be what was wanted.
    await Promise.all([record.fail(error, signal), bringOut()])
    throw error
  }
  await bringOut(signal)
  const { runs } = executor
  const { audit } = governed
  if (mode === "json")
    output.printJson(jsonResult(result, { runs, written, sandbox: executor.describe(), audit }))
  else {
    const summary = given.summary === false ? undefined : summarizeRuns(runs, audit?.path)
    if (summary !== undefined) tell(summary)
  }
  output.exitCode = exitCodeOf(result, maxTurns)
  if (answerText(result) === "") output.note("the model came to no answer")
  if (output.exitCode === EXIT_CAPPED) {
    output.note(`--max-turns ${maxTurns} ended it; a larger number lets code run more often`)
  }
  if (output.exitCode === 0 && written.some(({ failure }) => failure !== undefined)) {
    output.exitCode = EXIT_FAILED
  }
  return { result, runs, written }
}

function modeFor({ json }: RunOptions, { output }: At): ViewMode {
  if (json) return "json"
  return output.stdout.isTerminal ? "all" : "answer"
}
