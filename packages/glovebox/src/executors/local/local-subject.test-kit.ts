import type { ExecutorSubject, SubjectOptions } from "../../testing/executor-subject.ts"
import { LocalCommandLineCodeExecutor } from "./local-command-line-code-executor.ts"
import type { LocalCommandLineCodeExecutorOptions } from "./local-options.ts"

// Without programs that only stand in for others, such as those of pyenv, which set variables of their own.
const PATH = "/usr/local/bin:/usr/bin:/bin"

export function local(
  options: Omit<LocalCommandLineCodeExecutorOptions, "dangerouslyRunOnHost"> = {},
): LocalCommandLineCodeExecutor {
  return new LocalCommandLineCodeExecutor({
    dangerouslyRunOnHost: true,
    ...options,
    env: { PATH, ...options.env },
  })
}

/** The executor for the suite of what every executor does; never for the attacks, which would hit this machine. */
export const LOCAL_SUBJECT: ExecutorSubject = {
  name: "a folder of its own",
  create: (asked) => local(asked ? localOptions(asked) : {}),
  languages: ["python", "sh", "bash"],
  missing: { language: "powershell", names: /no pwsh on the PATH.*PowerShell 7/ },
  features: {
    processes: true,
    files: true,
    // All calls share one folder.
    session: true,
    parallel: true,
    limits: [],
    noNetwork: false,
    hardened: false,
    hostSeesProcesses: true,
  },
}

function localOptions({
  timeout,
  env,
  carry,
  concurrency,
  output,
}: SubjectOptions): Parameters<typeof local>[0] {
  const policy = output === undefined ? {} : { limits: { output } }
  return { timeout, env, carry, concurrency, policy }
}
