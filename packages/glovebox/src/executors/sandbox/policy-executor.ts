import { GloveboxError } from "../../core/index.ts"
import type { EgressLookup } from "../../egress/index.ts"
import { type PolicyChange, type PolicyInput, SandboxPolicy, allowListOf } from "../../policy/index.ts"
import { describeFunctions } from "../functions/functions-module.ts"
import type { PythonFunction } from "../functions/python-function.ts"
import type { LanguageTable } from "../languages.ts"
import type { Workspace, WorkspaceLimits } from "../workspace.ts"
import { chooseWorkspace } from "./choose-workspace.ts"
import type { RunningExecutor } from "./running-executor.ts"
import { EgressControl } from "./sandbox-egress.ts"
import { SandboxExecutor } from "./sandbox-executor.ts"
import type { SandboxLauncher } from "./sandbox-launcher.ts"
import { SandboxRunner } from "./sandbox-runner.ts"

/** The options of an executor whose sandboxes a launcher makes, with their defaults. */
export interface PolicyExecutorOptions {
  readonly policy: SandboxPolicy
  readonly languages: LanguageTable
  readonly isolation: "run" | "session"
  readonly egress?: { readonly lookup?: EgressLookup | undefined } | undefined
  readonly pool: { readonly size: number; readonly idleLease: number }
  readonly concurrency: number
  readonly workDir?: string | undefined
  readonly carry: WorkspaceLimits | undefined
  readonly deleteTmpFiles: boolean
  readonly interpreter?: "ready" | "fresh" | undefined
  readonly verify?: "claim" | undefined
  readonly functions: readonly PythonFunction[]
  readonly functionsModule: string
  /** Whether `stop()` ends the sandbox of a session. @default true */
  readonly stopContainer?: boolean | undefined
}

/** An executor that is its policy and its files; how its sandboxes are made is left open. */
export abstract class PolicyExecutor extends SandboxExecutor {
  readonly #options: PolicyExecutorOptions
  protected readonly workspace: Workspace | undefined
  #policy: SandboxPolicy
  /** What its sandboxes may reach. */
  protected readonly egress: EgressControl

  protected constructor(options: PolicyExecutorOptions) {
    const { languages, isolation, concurrency } = options
    const workspace = chooseWorkspace(options)
    super({ languages, concurrency: isolation === "session" ? 1 : concurrency, workspace })
    this.#options = options
    this.workspace = workspace
    this.#policy = options.policy
    this.egress = new EgressControl(options.policy.fields.network, options.egress?.lookup)
  }

  get policy(): SandboxPolicy {
    return this.#policy
  }

  /**
   * Lets code reach less from now on: also in sandboxes that run, where open connections that are no longer allowed
   * end. It cannot be made wider again.
   */
  tightenNetwork(network: PolicyInput["network"]): void {
    const policy = new SandboxPolicy({ ...this.#policy.toJSON(), network })
    const wider = policy.diff(this.#policy).filter(({ effect }) => effect !== "narrows")
    if (wider.length > 0) {
      const list = wider.map(({ path, to }) => `${path}: ${to}`).join("; ")
      throw new GloveboxError(
        "OPTION_INVALID",
        `A network can only be made narrower while its executor runs, and this would allow more: ${list}. Make another executor.`,
      )
    }
    this.#policy = policy
    this.egress.tighten(allowListOf(policy.fields.network) ?? "none")
  }

  /** Everything in which this executor is wider than deny-all. */
  widenings(): readonly PolicyChange[] {
    return this.policy.widenings()
  }

  /** What to tell a model of the functions that its code can import. */
  describeFunctions(): string {
    return describeFunctions(this.#options.functions, this.#options.functionsModule)
  }

  /** What runs calls in the sandboxes of a launcher. */
  protected async run(launcher: SandboxLauncher, signal: AbortSignal): Promise<RunningExecutor> {
    const { isolation, pool, carry, workDir, deleteTmpFiles, interpreter, stopContainer, verify } =
      this.#options
    return SandboxRunner.start(
      {
        launcher,
        policy: () => this.#policy,
        isolation,
        pool,
        workspace: this.workspace,
        isFolder: workDir !== undefined,
        carry,
        deletesCodeFiles: deleteTmpFiles,
        prefersReady: interpreter === "ready",
        endsSession: stopContainer,
        claims: verify === "claim",
      },
      signal,
    )
  }
}
