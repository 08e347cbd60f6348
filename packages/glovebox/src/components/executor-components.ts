import type { ComponentDefinition } from "../core/index.ts"
import { BubblewrapCodeExecutor } from "../executors/bubblewrap/index.ts"
import { DockerCommandLineCodeExecutor } from "../executors/docker/index.ts"
import { DockerJupyterCodeExecutor } from "../executors/jupyter/index.ts"
import { WasmCodeExecutor } from "../executors/wasm/index.ts"

/** The executors that can be made from data. The host itself is none of them: `localExecutorComponent` decides on it. */
export const executorComponents: readonly ComponentDefinition<never>[] = [
  DockerCommandLineCodeExecutor.definition,
  DockerJupyterCodeExecutor.definition,
  BubblewrapCodeExecutor.definition,
  WasmCodeExecutor.definition,
]
