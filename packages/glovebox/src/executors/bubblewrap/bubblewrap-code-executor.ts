import { LaunchedExecutor } from "../sandbox/launched-executor.ts"
import type { SandboxLauncher } from "../sandbox/sandbox-launcher.ts"
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
export class BubblewrapCodeExecutor extends LaunchedExecutor {
  readonly #options: BubblewrapOptions

  constructor(given: BubblewrapCodeExecutorOptions = {}) {
    const options = readBubblewrapOptions(given)
    refusePolicy(options.policy)
    super(options)
    this.#options = options
  }

  /** Finds bubblewrap, and what limits can be kept with. */
  protected override async prepare(): Promise<SandboxLauncher> {
    return BubblewrapLauncher.prepare(this.#options, this.egress)
  }
}
