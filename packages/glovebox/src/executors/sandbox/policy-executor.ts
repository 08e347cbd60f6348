import { GloveboxError } from "../../core/index.ts"
import {
  type PolicyChange,
  type PolicyInput,
  SandboxPolicy,
  type Tier,
  allowListOf,
  secretsWithin,
} from "../../policy/index.ts"
import { describeFunctions } from "../functions/functions-module.ts"
import type { PythonFunction } from "../functions/python-function.ts"
import { type InputFile, checkInputFiles } from "../input-file.ts"
import type { LanguageTable } from "../languages.ts"
import type { PoolState } from "../pool-state.ts"
import type { Workspace, WorkspaceLimits } from "../workspace.ts"
import { chooseWorkspace } from "./choose-workspace.ts"
import type { RunningExecutor } from "./running-executor.ts"
import type { KnownSecret } from "../known-secret.ts"
import { EgressControl, type EgressOptions } from "./sandbox-egress.ts"
import { SandboxExecutor } from "./sandbox-executor.ts"
import type { SandboxLauncher } from "./sandbox-launcher.ts"
import { SandboxRunner } from "./sandbox-runner.ts"

/** The options of an executor whose sandboxes a launcher makes, with their defaults. */
export interface PolicyExecutorOptions extends EgressOptions {
  readonly policy: SandboxPolicy
  readonly languages: LanguageTable
  readonly isolation: "run" | "session"
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
  #runner: SandboxRunner | undefined
  /** What its sandboxes may reach. */
  protected readonly egress: EgressControl

  protected constructor(kind: Tier, options: PolicyExecutorOptions) {
    const { languages, isolation, concurrency } = options
    const workspace = chooseWorkspace(options)
    super({ kind, languages, concurrency: isolation === "session" ? 1 : concurrency, workspace })
    this.#options = options
    this.workspace = workspace
    this.#policy = options.policy
    this.egress = new EgressControl(options.policy.fields, options)
  }

  override get policy(): SandboxPolicy {
    return this.#policy
  }

  /** How many sandboxes wait and how many work; undefined before the first start. */
  get pool(): PoolState | undefined {
    return this.#runner?.pool
  }

  /**
   * Lets code reach less from now on: also in sandboxes that run, where open connections that are no longer allowed
   * end. It cannot be made wider again.
   */
  tightenNetwork(network: PolicyInput["network"]): void {
    const before = this.#policy.toJSON()
    // A secret that can go nowhere any more is none.
    const secrets = secretsWithin(before.secrets, new SandboxPolicy({ network }).fields.network)
    const policy = new SandboxPolicy({ ...before, network, secrets })
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

  /**
   * Tells of each secret of the policy whose value is known, now and at each start: for whoever keeps values out of
   * what is written and shown.
   */
  onSecret(listener: (secret: KnownSecret) => void): Disposable {
    return this.egress.onSecret(listener)
  }

  /** Puts files into the workspace, where calls that begin later find them. */
  async putFiles(
    files: readonly InputFile[],
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    const checked = checkInputFiles(files)
    signal?.throwIfAborted()
    const { isolation, workDir } = this.#options
    if (!this.workspace || (isolation === "session" && workDir === undefined)) {
      throw new GloveboxError(
        "WORKSPACE_FAILED",
        "Files cannot be put here: none are kept outside the sandbox. Set carry, and in a session workDir.",
      )
    }
    if (await this.workspace.apply({ files: checked, removed: [] })) return
    throw new GloveboxError(
      "WORKSPACE_FAILED",
      "The files are more than the workspace holds, and none was put. Raise carry and limits.workspace, or send less.",
    )
  }

  /** Everything in which this executor is wider than deny-all: the policy's, and what no policy has, such as devices. */
  widenings(): readonly PolicyChange[] {
    return [...this.policy.widenings(), ...this.beyondPolicy]
  }

  /** What to tell a model of the functions that its code can import. */
  describeFunctions(): string {
    return describeFunctions(this.#options.functions, this.#options.functionsModule)
  }

  /** What runs calls in the sandboxes of a launcher. */
  protected async run(launcher: SandboxLauncher, signal: AbortSignal): Promise<RunningExecutor> {
    const { isolation, pool, carry, workDir, deleteTmpFiles, interpreter, stopContainer, verify } =
      this.#options
    this.#runner = await SandboxRunner.start(
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
    return this.#runner
  }
}
