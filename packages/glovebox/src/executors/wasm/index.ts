export { WasmCodeExecutor } from "./wasm-code-executor.ts"
export type { WasmCodeExecutorOptions } from "./wasm-options.ts"
