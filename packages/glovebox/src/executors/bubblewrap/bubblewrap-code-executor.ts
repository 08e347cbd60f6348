import type { SandboxPolicy } from "../../policy/index.ts"
import { describeFunctions } from "../functions/functions-module.ts"
import { chooseWorkspace } from "../sandbox/choose-workspace.ts"
import type { RunningExecutor } from "../sandbox/running-executor.ts"
import { SandboxExecutor } from "../sandbox/sandbox-executor.ts"
import { SandboxRunner } from "../sandbox/sandbox-runner.ts"
import type { Workspace } from "../workspace.ts"
import { BubblewrapLauncher } from "./bubblewrap-launcher.ts"
import {
  type BubblewrapCodeExecutorOptions,
  type BubblewrapOptions,
  readBubblewrapOptions,
} from "./bubblewrap-options.ts"
import { refusePolicy } from "./refuse-policy.ts"

/**
 * Runs code blocks on Linux without an engine: in namespaces of their own that bubblewrap makes, by default fresh
 * ones for each call, with the programs of this machine and nothing else of it.
 *
 * @example
 * await using executor = new BubblewrapCodeExecutor()
 * const { output } = await executor.executeCodeBlocks([{ language: "python", code: "print(6 * 7)" }])
 */
export class BubblewrapCodeExecutor extends SandboxExecutor {
  readonly #options: BubblewrapOptions
  readonly #workspace: Workspace | undefined

  constructor(given: BubblewrapCodeExecutorOptions = {}) {
    const options = readBubblewrapOptions(given)
    refusePolicy(options.policy)
    const { languages, isolation } = options
    const workspace = chooseWorkspace(options)
    super({ languages, concurrency: isolation === "session" ? 1 : options.concurrency, workspace })
    this.#options = options
    this.#workspace = workspace
  }

  get policy(): SandboxPolicy {
    return this.#options.policy
  }

  /** What to tell a model of the functions that its code can import. */
  describeFunctions(): string {
    return describeFunctions(this.#options.functions, this.#options.functionsModule)
  }

  /** Finds bubblewrap and what limits can be kept with, and makes the first sandbox. */
  protected override async open(signal: AbortSignal): Promise<RunningExecutor> {
    const options = this.#options
    return SandboxRunner.start(
      {
        launcher: await BubblewrapLauncher.prepare(options),
        policy: options.policy,
        isolation: options.isolation,
        pool: options.pool,
        workspace: this.#workspace,
        isFolder: options.workDir !== undefined,
        carry: options.carry,
        deletesCodeFiles: options.deleteTmpFiles,
        prefersReady: options.interpreter === "ready",
      },
      signal,
    )
  }
}
