export {
  type CreateVirtualEnvironmentOptions,
  createVirtualEnvironment,
} from "./create-virtual-environment.ts"
export { LocalCommandLineCodeExecutor, localExecutorComponent } from "./local-command-line-code-executor.ts"
export type { LocalCommandLineCodeExecutorOptions } from "./local-options.ts"
export type { VirtualEnvContext } from "./virtual-env-context.ts"
