import type { CreateExecutorOptions, SandboxChoice } from "../../executors/index.ts"
import type { ChatCompletionClient } from "../../models/index.ts"
import { approvalLane } from "../approval/approval-lane.ts"
import { type AskPerson, NOT_APPROVED, askApproval } from "../approval/ask-approval.ts"
import type { CommandOutput } from "../command-output.ts"
import { type Config, loadConfig } from "../config/load-config.ts"
import { chooseModel } from "../model/choose-model.ts"
import { openModel } from "../model/open-model.ts"
import type { ProgressLine } from "../progress-line.ts"
import { openExecutor } from "../sandbox-options.ts"
import type { JobOptions } from "./job-options.ts"
import type { Decide } from "./make-job.ts"
import { type Annotate, RecordedExecutor } from "./recorded-executor.ts"

/** Where a command prints, and what ends it. */
export interface At {
  readonly output: CommandOutput
  readonly progress: ProgressLine
  readonly signal: AbortSignal
}

export async function readConfig({ config: file }: JobOptions, { signal }: At): Promise<Config> {
  return loadConfig({ file, folder: process.cwd(), signal })
}

/** The model that the options, the configuration or the environment name; says on stderr which it is. */
export async function openJobModel(
  options: JobOptions,
  config: Config,
  { output, progress, signal }: At,
): Promise<{ readonly client: ChatCompletionClient; readonly label: string }> {
  progress.show("looking for a model")
  const env = process.env
  const choice = await chooseModel({ model: options.model, config, env, signal })
  const client = await openModel(choice, { env, signal })
  progress.clear()
  const label = `${choice.provider}/${choice.name}`
  const { baseURL = choice.provider === "openai" ? env["OPENAI_BASE_URL"] : undefined } = choice
  const where = baseURL ? ` at ${baseURL}` : ""
  const how = client.modelInfo.functionCalling ? "" : "; without tools, so it writes code between fences"
  output.note(`the model is ${label}${where} (by ${choice.because})${how}`)
  return { client, label }
}

export interface JobPlace {
  readonly isolation: "run" | "session"
  readonly workDir: string
  readonly annotate?: Annotate | undefined
}

/** The sandbox that the options and the configuration ask for. */
export async function openJobExecutor(
  options: JobOptions,
  config: Config,
  { isolation, workDir, annotate }: JobPlace,
  at: At,
): Promise<RecordedExecutor> {
  const { sandbox = config.sandbox ?? "auto" } = options
  const policy = options.policy === undefined ? config.policy : undefined
  const more = { ...forJobs(sandbox, isolation), ...(policy && { policy }) }
  return new RecordedExecutor(await openExecutor({ ...options, sandbox, workDir }, more, at), annotate)
}

// The next run is likely, so that one sandbox waits for it.
function forJobs(sandbox: SandboxChoice, isolation: "run" | "session"): CreateExecutorOptions {
  const pool = { pool: { size: 1 }, deleteTmpFiles: true }
  // A kernel has one way only.
  const kept = sandbox === "jupyter" ? {} : { isolation }
  return { ...kept, docker: pool, bubblewrap: pool, wasm: pool, jupyter: { deleteTmpFiles: true } }
}

/** Who decides on code. */
export interface Approval {
  readonly decide: Decide
  /** Whether whoever is asked is shown the code, so that nobody else has to show it. */
  readonly showsCode: boolean
}

/** Undefined when code runs unasked. */
export function approvalFor(
  { approve: asked }: JobOptions,
  config: Config,
  executor: RecordedExecutor,
  { output, ask }: { readonly output: CommandOutput; readonly ask: AskPerson | undefined },
): Approval | undefined {
  const { policy } = executor
  const lane = approvalLane({ asked, config, policy, isTerminal: ask !== undefined })
  if (lane === "always") return undefined
  const { sandbox } = executor.describe()
  if (lane === "ask" && ask) {
    const decide: Decide = async (blocks, signal) =>
      askApproval(blocks, { output, policy, sandbox, ask }, signal)
    return { decide, showsCode: true }
  }
  const decide: Decide = async () => {
    output.note("code was not run: --approve never")
    return { approved: false, reason: `${NOT_APPROVED} No code may run here; answer without.` }
  }
  return { decide, showsCode: false }
}
