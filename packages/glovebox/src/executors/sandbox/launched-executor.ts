import type { PolicyChange, SandboxPolicy } from "../../policy/index.ts"
import { describeFunctions } from "../functions/functions-module.ts"
import type { PythonFunction } from "../functions/python-function.ts"
import type { LanguageTable } from "../languages.ts"
import type { Workspace, WorkspaceLimits } from "../workspace.ts"
import { chooseWorkspace } from "./choose-workspace.ts"
import type { RunningExecutor } from "./running-executor.ts"
import { SandboxExecutor } from "./sandbox-executor.ts"
import type { SandboxLauncher } from "./sandbox-launcher.ts"
import { SandboxRunner } from "./sandbox-runner.ts"

/** The options of an executor whose sandboxes a launcher makes, with their defaults. */
export interface LaunchedOptions {
  readonly policy: SandboxPolicy
  readonly languages: LanguageTable
  readonly isolation: "run" | "session"
  readonly pool: { readonly size: number; readonly idleLease: number }
  readonly concurrency: number
  readonly workDir?: string | undefined
  readonly carry: WorkspaceLimits | undefined
  readonly deleteTmpFiles: boolean
  readonly interpreter?: "ready" | "fresh" | undefined
  readonly functions: readonly PythonFunction[]
  readonly functionsModule: string
  /** Whether `stop()` ends the sandbox of a session. @default true */
  readonly stopContainer?: boolean | undefined
}

/** An executor that is its policy, its files and a launcher. */
export abstract class LaunchedExecutor extends SandboxExecutor {
  readonly #options: LaunchedOptions
  readonly #workspace: Workspace | undefined

  protected constructor(options: LaunchedOptions) {
    const { languages, isolation, concurrency } = options
    const workspace = chooseWorkspace(options)
    super({ languages, concurrency: isolation === "session" ? 1 : concurrency, workspace })
    this.#options = options
    this.#workspace = workspace
  }

  get policy(): SandboxPolicy {
    return this.#options.policy
  }

  /** Everything in which this executor is wider than deny-all. */
  widenings(): readonly PolicyChange[] {
    return this.policy.widenings()
  }

  /** What to tell a model of the functions that its code can import. */
  describeFunctions(): string {
    return describeFunctions(this.#options.functions, this.#options.functionsModule)
  }

  /** Makes the launcher; called again after a stop. */
  protected abstract prepare(signal: AbortSignal): Promise<SandboxLauncher>

  protected override async open(signal: AbortSignal): Promise<RunningExecutor> {
    const { policy, isolation, pool, carry, workDir, deleteTmpFiles, interpreter, stopContainer } =
      this.#options
    return SandboxRunner.start(
      {
        launcher: await this.prepare(signal),
        policy,
        isolation,
        pool,
        workspace: this.#workspace,
        isFolder: workDir !== undefined,
        carry,
        deletesCodeFiles: deleteTmpFiles,
        prefersReady: interpreter === "ready",
        endsSession: stopContainer,
      },
      signal,
    )
  }
}
