import type { CodeBlock, CodeExecutor, CodeResult } from "../index.ts"
import type { ExecutorSubject, SubjectOptions } from "../../testing/executor-subject.ts"
import { DockerJupyterCodeExecutor } from "./docker-jupyter-code-executor.ts"
import type { DockerJupyterCodeExecutorOptions } from "./jupyter-options.ts"

export const HAS_NO_DOCKER = process.env["GLOVEBOX_TEST_DOCKER"] === "unavailable"

/** What every test of this folder runs with, unless it says otherwise. */
export function jupyter(options: DockerJupyterCodeExecutorOptions = {}): DockerJupyterCodeExecutor {
  return new DockerJupyterCodeExecutor({ runtime: "runc", ...options })
}

/** Runs one cell. */
export async function cell(executor: CodeExecutor, code: string): Promise<CodeResult> {
  return executor.executeCodeBlocks([{ language: "python", code }])
}

export function bash(code: string): CodeBlock {
  return { language: "bash", code }
}

/** The executor for the suites. */
export function jupyterSubject(
  name: string,
  options: DockerJupyterCodeExecutorOptions = {},
): ExecutorSubject {
  return {
    name,
    create: (asked) => jupyter({ ...options, ...jupyterOptions(asked ?? {}) }),
    languages: ["python", "sh", "bash"],
    missing: { language: "powershell", names: /glovebox\/jupyter:py3.*pwsh.*PowerShell 7/ },
    features: {
      processes: true,
      files: true,
      session: true,
      parallel: false,
      limits: ["memory", "pids", "workspace", "files"],
      noNetwork: true,
      hardened: true,
      hostSeesProcesses: true,
      kernel: true,
    },
  }
}

function jupyterOptions(asked: SubjectOptions): DockerJupyterCodeExecutorOptions {
  const { workspace, files, output, concurrency: _one, memory, ...options } = asked
  const limits = {
    ...(workspace === undefined ? {} : { workspace }),
    ...(files === undefined ? {} : { files }),
    ...(output === undefined ? {} : { output }),
  }
  // A kernel alone needs most of what the suites give to a plain program.
  return { ...options, ...(memory === undefined ? {} : { memory: "256MiB" }), policy: { limits } }
}
