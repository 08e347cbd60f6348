import { languageTable } from "../languages.ts"
import { LaunchedExecutor } from "../sandbox/launched-executor.ts"
import type { SandboxLauncher } from "../sandbox/sandbox-launcher.ts"
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
export class WasmCodeExecutor extends LaunchedExecutor {
  readonly #options: WasmOptions

  constructor(given: WasmCodeExecutorOptions = {}) {
    const options = readWasmOptions(given)
    super({ ...options, languages: languageTable() })
    this.#options = options
  }

  protected override async prepare(): Promise<SandboxLauncher> {
    return new WasmLauncher(this.#options)
  }
}
