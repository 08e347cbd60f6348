import type { ExecutorFeatures, ExecutorSubject, SubjectOptions } from "../../testing/executor-subject.ts"
import { DockerCommandLineCodeExecutor } from "./docker-command-line-code-executor.ts"
import type { DockerCommandLineCodeExecutorOptions } from "./docker-options.ts"

export const IMAGE = "glovebox/sandbox:py3"
export const HAS_NO_DOCKER = process.env["GLOVEBOX_TEST_DOCKER"] === "unavailable"

/** What every test of this folder runs with, unless it says otherwise. */
export const BASE = {
  image: IMAGE,
  runtime: "runc",
  pull: "never",
} as const satisfies DockerCommandLineCodeExecutorOptions

export function docker(options: DockerCommandLineCodeExecutorOptions = {}): DockerCommandLineCodeExecutor {
  return new DockerCommandLineCodeExecutor({ ...BASE, ...options })
}

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
export function dockerSubject(
  name: string,
  options: DockerCommandLineCodeExecutorOptions = {},
): ExecutorSubject {
  const isSession = options.isolation === "session"
  return {
    name,
    // The pool has tests of its own; here it would make containers that nobody uses.
    create: (asked) =>
      docker({ pool: asked === undefined && { size: 1 }, ...options, ...dockerOptions(asked ?? {}) }),
    languages: ["python", "sh", "bash"],
    missing: { language: "powershell", names: /glovebox\/sandbox:py3.*pwsh.*PowerShell 7/ },
    features: { ...FEATURES, session: isSession, parallel: !isSession },
  }
}

function dockerOptions(asked: SubjectOptions): DockerCommandLineCodeExecutorOptions {
  const { workspace, files, output, ...options } = asked
  const limits = {
    ...(workspace === undefined ? {} : { workspace }),
    ...(files === undefined ? {} : { files }),
    ...(output === undefined ? {} : { output }),
  }
  return { ...options, policy: { limits } }
}
