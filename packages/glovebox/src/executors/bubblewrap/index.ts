export { BubblewrapCodeExecutor } from "./bubblewrap-code-executor.ts"
export type { BubblewrapCodeExecutorOptions } from "./bubblewrap-options.ts"
