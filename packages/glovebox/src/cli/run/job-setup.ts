import type { CreateExecutorOptions, SandboxChoice } from "../../executors/index.ts"
import type { ChatCompletionClient } from "../../models/index.ts"
import type { ApprovalProvider, ApprovalTerminal } from "../../governance/index.ts"
import { checkApproval } from "../approval/check-approval.ts"
import { CodeApproval } from "../approval/code-approval.ts"
import type { CommandOutput } from "../command-output.ts"
import { type Config, loadConfig } from "../config/load-config.ts"
import type { CommandGovernance } from "../governance/command-governance.ts"
import { openGovernance } from "../governance/open-governance.ts"
import { chooseModel } from "../model/choose-model.ts"
import { openModel } from "../model/open-model.ts"
import type { ProgressLine } from "../progress-line.ts"
import type { JobOptions } from "./job-options.ts"
import { ANSWERER } from "./make-job.ts"
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

/** What a job is bound by. */
export interface JobRules extends AsyncDisposable {
  readonly governed: CommandGovernance
  readonly approval: CodeApproval
}

export interface OpenRulesOptions {
  readonly command: string
  readonly options: JobOptions
  readonly config: Config
  readonly terminal: ApprovalTerminal | undefined
  readonly answerer?: ApprovalProvider | undefined
}

/** The rules that the options and the configuration make, and the log that is kept. */
export async function openRules(
  { command, options, config, terminal, answerer }: OpenRulesOptions,
  at: At,
): Promise<JobRules> {
  const note = (line: string): void => at.output.note(line)
  const approval = new CodeApproval({ asked: options.approve, config, terminal, note, answerer })
  const governed = await openGovernance({ command, options, config, approval: approval.gate }, at)
  return { governed, approval, [Symbol.asyncDispose]: async () => governed[Symbol.asyncDispose]() }
}

/** The sandbox that the options and the configuration ask for, if code may run in it. */
export async function openJobExecutor(
  options: JobOptions,
  config: Config,
  { isolation, workDir, annotate }: JobPlace,
  { governed, approval }: JobRules,
  at: At,
): Promise<RecordedExecutor> {
  const { sandbox = config.sandbox ?? "auto" } = options
  const policy = options.policy === undefined ? config.policy : undefined
  const more = { ...forJobs(sandbox, isolation), ...(policy && { policy }) }
  const place = { ...at, policySource: config.file }
  const executor = await governed.openExecutor({ ...options, sandbox, workDir }, more, place)
  const { gate } = governed.governance
  try {
    checkApproval({
      approval,
      gate,
      config,
      policy: executor.policy,
      agent: ANSWERER,
      asked: options.approve,
    })
  } catch (error) {
    await executor[Symbol.asyncDispose]()
    throw error
  }
  return new RecordedExecutor(executor, { redaction: at.output.redaction, annotate })
}

// The next run is likely, so that one sandbox waits for it.
function forJobs(sandbox: SandboxChoice, isolation: "run" | "session"): CreateExecutorOptions {
  const pool = { pool: { size: 1 }, deleteTmpFiles: true }
  // A kernel has one way only.
  const kept = sandbox === "jupyter" ? {} : { isolation }
  return { ...kept, docker: pool, bubblewrap: pool, wasm: pool, jupyter: { deleteTmpFiles: true } }
}
