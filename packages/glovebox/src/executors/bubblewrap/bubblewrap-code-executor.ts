import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  defineComponent,
} from "../../core/index.ts"
import {
  refuse,
  systemConfigFromOptions,
  systemConfigShape,
  systemOptionsFromConfig,
} from "../sandbox/executor-config.ts"
import { LaunchedExecutor } from "../sandbox/launched-executor.ts"
import type { SandboxLauncher } from "../sandbox/sandbox-launcher.ts"
import { BubblewrapLauncher } from "./bubblewrap-launcher.ts"
import {
  type BubblewrapCodeExecutorOptions,
  type BubblewrapOptions,
  readBubblewrapOptions,
} from "./bubblewrap-options.ts"
import { refusePolicy } from "./refuse-policy.ts"

const configSchema = z.strictObject({
  ...systemConfigShape,
  root: z.string().nullish(),
  cgroup: z.union([z.string(), z.literal(false)]).nullish(),
})

/**
 * Runs code blocks on Linux without an engine: in namespaces of their own that bubblewrap makes, by default fresh
 * ones for each call, with the programs of this machine and nothing else of it.
 *
 * @example
 * await using executor = new BubblewrapCodeExecutor()
 * const { output } = await executor.executeCodeBlocks([{ language: "python", code: "print(6 * 7)" }])
 */
export class BubblewrapCodeExecutor extends LaunchedExecutor implements Component {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, BubblewrapCodeExecutor> =
    defineComponent({
      provider: "glovebox.executors.BubblewrapCodeExecutor",
      type: "code_executor",
      config: configSchema,
      create: (config) =>
        new BubblewrapCodeExecutor({
          ...systemOptionsFromConfig(config),
          root: config.root ?? undefined,
          cgroup: config.cgroup ?? undefined,
        }),
    })

  readonly #options: BubblewrapOptions
  readonly #languages: BubblewrapCodeExecutorOptions["languages"]

  constructor(given: BubblewrapCodeExecutorOptions = {}) {
    const options = readBubblewrapOptions(given)
    refusePolicy(options.policy)
    super("bubblewrap", options)
    this.#options = options
    this.#languages = given.languages
  }

  /** With its policy as plain fields, the environment among them. */
  toComponent(): ComponentModel {
    const { root, cgroup, bwrapPath } = this.#options
    // Data is not to say which program of the machine makes the wall.
    refuse({ bwrapPath })
    return BubblewrapCodeExecutor.definition.dump({
      ...systemConfigFromOptions({ ...this.#options, policy: this.policy }, this.#languages),
      root,
      cgroup,
    })
  }

  /** Finds bubblewrap, and what limits can be kept with. */
  protected override async prepare(): Promise<SandboxLauncher> {
    return BubblewrapLauncher.prepare(this.#options, this.egress)
  }
}
