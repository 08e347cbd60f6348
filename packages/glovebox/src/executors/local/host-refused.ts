import { GloveboxError } from "../../core/index.ts"

/** Why nothing runs on the host unless someone says so, and where it can run instead. */
export function hostRefused(): GloveboxError {
  return new GloveboxError(
    "HOST_EXECUTION_REFUSED",
    "Code would run on this machine itself, with all rights of this process's user and no wall around it. Use a sandbox instead: docker (DockerCommandLineCodeExecutor), bubblewrap (BubblewrapCodeExecutor, Linux, no daemon) or wasm (WasmCodeExecutor, nothing to install). For code that you trust as your own, set dangerouslyRunOnHost: true.",
  )
}
