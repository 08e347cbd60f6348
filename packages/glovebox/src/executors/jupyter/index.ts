export { DockerJupyterCodeExecutor } from "./docker-jupyter-code-executor.ts"
export type { DockerJupyterCodeExecutorOptions } from "./jupyter-options.ts"
