import type { Command } from "commander"
import type { AgentRuntime, Logger } from "../../core/index.ts"
import type { CreateExecutorOptions, SandboxChoice } from "../../executors/index.ts"
import { type ServedCodeExecutor, serveCodeExecutor } from "../../executors/remote/index.ts"
import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"
import type { CommandOutput } from "../command-output.ts"
import { type GovernanceFlags, withGovernanceOptions } from "../governance/governance-flags.ts"
import { openGovernance } from "../governance/open-governance.ts"
import { SandboxRecords } from "../governance/sandbox-records.ts"
import { ProgressLine } from "../progress-line.ts"
import {
  SANDBOXES,
  type SandboxOptions,
  openExecutor,
  sandboxOption,
  withSandboxOptions,
} from "../sandbox-options.ts"
import { aCount, aTime } from "./option-values.ts"

export interface ExecutorFlags extends Omit<SandboxOptions, "sandbox">, GovernanceFlags {
  readonly sandbox?: Exclude<SandboxChoice, "local">
  /** The agent type, or true for the usual one. */
  readonly executor?: string | true
  readonly maxKeys?: number
  readonly maxRuns?: number
  readonly idle?: number
}

/** The options of `glovebox worker --executor`: what code may do is fixed here, and clients cannot change it. */
export function withExecutorOptions(command: Command): Command {
  const sandbox = sandboxOption(
    SANDBOXES.filter((name) => name !== "local"),
    "where code runs (default: auto, which is docker where an engine answers, else wasm)",
  )
  const withAll = withGovernanceOptions(withSandboxOptions(command, sandbox))
  // It is refused, and so not offered.
  withAll.options.find(({ long }) => long === "--work-dir")?.hideHelp()
  return withAll
    .option("--max-keys <count>", "how many clients have a sandbox at a time (64)", aCount)
    .option("--max-runs <count>", "how many runs go on at a time; others wait (16)", aCount)
    .option("--idle <time>", "how long a client's sandbox outlives its last call (10m)", aTime)
}

const EXECUTOR_FLAGS = [
  ...(["sandbox", "policy", "image", "timeout", "dockerHost", "dockerContext"] as const),
  ...(["audit", "auditContent", "auditKey", "maxKeys", "maxRuns", "idle"] as const),
]

/** What a worker without an executor would ignore, and what none can have. */
export function refuseExecutorFlags(flags: ExecutorFlags): void {
  if (flags.workDir !== undefined) {
    // One folder for all of them would be a way from one client's code to another's.
    throw new CommandFailure("--work-dir is not for --executor: each client has files of its own.", {
      exitCode: EXIT_USAGE,
    })
  }
  if (flags.executor !== undefined) return
  const name = EXECUTOR_FLAGS.find((flag) => flags[flag] !== undefined)
  if (name === undefined) return
  const written =
    flags[name] === false ? `no-${name}` : name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new CommandFailure(`--${written} is for a worker with --executor.`, { exitCode: EXIT_USAGE })
}

export interface ServeExecutorAt {
  readonly output: CommandOutput
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** A sandbox of this machine for agents of others; all that it runs is written down. */
export async function openServedExecutor(
  runtime: AgentRuntime,
  flags: ExecutorFlags,
  { output, logger, signal }: ServeExecutorAt,
): Promise<ServedCodeExecutor> {
  using progress = new ProgressLine(output.stderr)
  const at = { output, progress, signal }
  const options = { ...flags, sandbox: flags.sandbox ?? "auto" }
  const config = { file: undefined, isNamed: false, policy: undefined }
  const governed = await openGovernance({ command: "worker", options, config, approval: false }, at)
  try {
    // Chosen once, so that what cannot work is said now, and all clients have the same.
    await using first = await governed.openExecutor(options, {}, at)
    const { policy } = first
    const { sandbox } = first.describe()
    const chosen = { ...options, sandbox, policy: undefined, image: undefined, timeout: undefined }
    const records = new SandboxRecords(governed.governance)
    const agent = governed.governance.agent("remote")
    const served = await serveCodeExecutor(runtime, {
      type: flags.executor === true ? undefined : flags.executor,
      executor: async () => {
        const more = { ...KEPT_READY, policy, onEngineEvent: records.take }
        return agent.executor(await openExecutor(chosen, more, at))
      },
      maxKeys: flags.maxKeys,
      maxRuns: flags.maxRuns,
      idleMs: flags.idle,
      logger,
    })
    return new LoggedService(served, async () => {
      await records.end()
      await governed[Symbol.asyncDispose]()
    })
  } catch (error) {
    await governed[Symbol.asyncDispose]()
    throw error
  }
}

const POOL = { pool: { size: 1 }, deleteTmpFiles: true }
const KEPT_READY: CreateExecutorOptions = {
  docker: POOL,
  bubblewrap: POOL,
  wasm: POOL,
  jupyter: { deleteTmpFiles: true },
}

/** The log is closed when nothing can write to it any more. */
class LoggedService implements ServedCodeExecutor {
  readonly #served: ServedCodeExecutor
  readonly #closeLog: () => Promise<void>
  #closed: Promise<void> | undefined

  constructor(served: ServedCodeExecutor, closeLog: () => Promise<void>) {
    this.#served = served
    this.#closeLog = closeLog
  }

  get status(): ServedCodeExecutor["status"] {
    return this.#served.status
  }

  async drain(options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    await this.#served.drain(options)
  }

  async close(): Promise<void> {
    this.#closed ??= this.#close()
    await this.#closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): Promise<void> {
    try {
      await this.#served.close()
    } finally {
      await this.#closeLog()
    }
  }
}
