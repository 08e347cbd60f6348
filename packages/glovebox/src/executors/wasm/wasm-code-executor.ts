import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  defineComponent,
} from "../../core/index.ts"
import { languageTable } from "../languages.ts"
import {
  sandboxConfigFromOptions,
  sandboxConfigShape,
  sandboxOptionsFromConfig,
} from "../sandbox/executor-config.ts"
import { LaunchedExecutor } from "../sandbox/launched-executor.ts"
import type { SandboxLauncher } from "../sandbox/sandbox-launcher.ts"
import { WasmLauncher } from "./wasm-launcher.ts"
import { type WasmCodeExecutorOptions, type WasmOptions, readWasmOptions } from "./wasm-options.ts"

const configSchema = z.strictObject(sandboxConfigShape)

/**
 * Runs code blocks in interpreters compiled to WebAssembly, with nothing but Node: Python, JavaScript and TypeScript,
 * without network, processes or any file of the host. It has the standard library only.
 *
 * @example
 * await using executor = new WasmCodeExecutor()
 * const { output } = await executor.executeCodeBlocks([{ language: "python", code: "print(6 * 7)" }])
 */
export class WasmCodeExecutor extends LaunchedExecutor implements Component {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, WasmCodeExecutor> =
    defineComponent({
      provider: "glovebox.executors.WasmCodeExecutor",
      type: "code_executor",
      config: configSchema,
      create: (config) => new WasmCodeExecutor(sandboxOptionsFromConfig(config)),
    })

  readonly #options: WasmOptions

  constructor(given: WasmCodeExecutorOptions = {}) {
    const options = readWasmOptions(given)
    super("wasm", { ...options, languages: languageTable() })
    this.#options = options
  }

  /** With its policy as plain fields, the environment among them. */
  toComponent(): ComponentModel {
    return WasmCodeExecutor.definition.dump(
      sandboxConfigFromOptions({ ...this.#options, policy: this.policy }),
    )
  }

  protected override async prepare(): Promise<SandboxLauncher> {
    return new WasmLauncher(this.#options)
  }
}
