import type { ExecutorFeatures, ExecutorSubject, SubjectOptions } from "../../testing/executor-subject.ts"
import { WasmCodeExecutor } from "./wasm-code-executor.ts"
import type { WasmCodeExecutorOptions } from "./wasm-options.ts"

const FEATURES: ExecutorFeatures = {
  processes: false,
  files: true,
  session: false,
  parallel: true,
  limits: ["memory", "workspace", "files"],
  noNetwork: true,
  hardened: false,
  hostSeesProcesses: false,
}

/** The executor with these options, for the suites. */
export function wasmSubject(name: string, options: WasmCodeExecutorOptions = {}): ExecutorSubject {
  const isSession = options.isolation === "session"
  return {
    name,
    create: (asked) =>
      new WasmCodeExecutor({
        // The pool has tests of its own; a process that waits costs more to start.
        pool: false,
        ...options,
        ...wasmOptions(asked ?? {}),
      }),
    languages: ["python"],
    missing: { language: "sh", names: /embedded sandbox has no sh.*docker and bubblewrap/ },
    features: { ...FEATURES, session: isSession, parallel: !isSession },
  }
}

function wasmOptions({
  workspace,
  files,
  output,
  pids: _pids,
  ...options
}: SubjectOptions): WasmCodeExecutorOptions {
  const limits = {
    ...(workspace === undefined ? {} : { workspace }),
    ...(files === undefined ? {} : { files }),
    ...(output === undefined ? {} : { output }),
  }
  return { ...options, policy: { limits } }
}
