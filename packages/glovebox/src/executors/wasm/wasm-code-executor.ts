import { type PolicyChange, type SandboxPolicy, checkTier } from "../../policy/index.ts"
import { describeFunctions } from "../functions/functions-module.ts"
import { languageTable } from "../languages.ts"
import { chooseWorkspace } from "../sandbox/choose-workspace.ts"
import type { RunningExecutor } from "../sandbox/running-executor.ts"
import { SandboxExecutor } from "../sandbox/sandbox-executor.ts"
import { SandboxRunner } from "../sandbox/sandbox-runner.ts"
import type { Workspace } from "../workspace.ts"
import { WasmLauncher } from "./wasm-launcher.ts"
import { type WasmCodeExecutorOptions, type WasmOptions, readWasmOptions } from "./wasm-options.ts"

/**
 * Runs code blocks in interpreters compiled to WebAssembly, with nothing but Node: Python, JavaScript and TypeScript,
 * without network, processes or any file of the host. It has the standard library only.
 *
 * @example
 * await using executor = new WasmCodeExecutor()
 * const { output } = await executor.executeCodeBlocks([{ language: "python", code: "print(6 * 7)" }])
 */
export class WasmCodeExecutor extends SandboxExecutor {
  readonly #options: WasmOptions
  readonly #workspace: Workspace | undefined

  constructor(given: WasmCodeExecutorOptions = {}) {
    const options = readWasmOptions(given)
    checkTier(options.policy, "wasm")
    const workspace = chooseWorkspace(options)
    super({
      languages: languageTable(),
      concurrency: options.isolation === "session" ? 1 : options.concurrency,
      workspace,
    })
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

  protected override async open(signal: AbortSignal): Promise<RunningExecutor> {
    const options = this.#options
    return SandboxRunner.start(
      {
        launcher: new WasmLauncher(options),
        policy: options.policy,
        isolation: options.isolation,
        pool: options.pool,
        workspace: this.#workspace,
        isFolder: options.workDir !== undefined,
        carry: options.carry,
        deletesCodeFiles: options.deleteTmpFiles,
        prefersReady: false,
      },
      signal,
    )
  }
}
