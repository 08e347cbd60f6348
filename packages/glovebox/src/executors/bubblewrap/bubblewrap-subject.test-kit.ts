import type { ExecutorFeatures, ExecutorSubject, SubjectOptions } from "../../testing/executor-subject.ts"
import { BubblewrapCodeExecutor } from "./bubblewrap-code-executor.ts"
import type { BubblewrapCodeExecutorOptions } from "./bubblewrap-options.ts"

const FEATURES: ExecutorFeatures = {
  processes: true,
  files: true,
  session: false,
  parallel: true,
  limits: ["memory", "pids", "workspace", "files"],
  noNetwork: true,
  hardened: true,
  hostSeesProcesses: true,
}

/** The executor with these options, for the suites. */
export function bubblewrapSubject(
  name: string,
  options: BubblewrapCodeExecutorOptions = {},
  features: Partial<ExecutorFeatures> = {},
): ExecutorSubject {
  const isSession = options.isolation === "session"
  return {
    name,
    create: (asked) =>
      new BubblewrapCodeExecutor({
        pool: asked === undefined && { size: 1 },
        ...options,
        ...bubblewrapOptions(asked ?? {}),
      }),
    languages: ["python", "sh", "bash"],
    missing: { language: "powershell", names: /This machine's \/usr.*pwsh.*PowerShell 7/ },
    features: { ...FEATURES, session: isSession, parallel: !isSession, ...features },
  }
}

function bubblewrapOptions(asked: SubjectOptions): BubblewrapCodeExecutorOptions {
  const { workspace, files, output, ...options } = asked
  const limits = {
    ...(workspace === undefined ? {} : { workspace }),
    ...(files === undefined ? {} : { files }),
    ...(output === undefined ? {} : { output }),
  }
  return { ...options, policy: { limits } }
}
