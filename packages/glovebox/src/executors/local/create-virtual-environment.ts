import { rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { GloveboxError } from "../../core/index.ts"
import { findProgram } from "./find-program.ts"
import { Guard } from "../sandbox/guard.ts"
import { hostEnvironment } from "./host-environment.ts"
import { makeScratch } from "./make-scratch.ts"
import { runSetupProcess } from "./setup-process.ts"
import type { VirtualEnvContext } from "./virtual-env-context.ts"

export interface CreateVirtualEnvironmentOptions {
  /** The Python that it is made with. @default "python3" */
  readonly python?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Makes a virtual environment of Python in a folder, for the option `virtualEnvContext`; one that is there is kept.
 *
 * @example
 * const virtualEnvContext = await createVirtualEnvironment("coding/.venv")
 * await using executor = new LocalCommandLineCodeExecutor({ dangerouslyRunOnHost: true, virtualEnvContext })
 */
export async function createVirtualEnvironment(
  folder: string,
  { python = "python3", signal }: CreateVirtualEnvironmentOptions = {},
): Promise<VirtualEnvContext> {
  signal?.throwIfAborted()
  const envDir = resolve(folder)
  const env = hostEnvironment({ host: process.env, env: {}, virtualEnv: undefined, modules: undefined })
  const program = await findProgram(python, env)
  if (program === undefined) throw failed(envDir, `there is no ${python} on the PATH; install Python 3`)
  const scratch = await makeScratch("glovebox-venv-")
  let guard: Guard | undefined
  try {
    guard = new Guard({ folders: [scratch] })
    const argv = [program, "-m", "venv", "--", envDir]
    const { isOk, said } = await runSetupProcess({ argv, cwd: scratch, env, scratch, guard, signal })
    if (!isOk) throw failed(envDir, reasonIn(said, program))
  } finally {
    await guard?.close()
    await rm(scratch, { recursive: true, force: true })
  }
  const isWindows = process.platform === "win32"
  const binPath = join(envDir, isWindows ? "Scripts" : "bin")
  return { binPath, envExe: join(binPath, isWindows ? "python.exe" : "python"), envDir }
}

function reasonIn(said: string, program: string): string {
  if (/ensurepip|No module named '?venv/.test(said)) {
    return `${program} has no venv with pip; on Debian and Ubuntu: apt install python3-venv`
  }
  return `${program} said: ${said}`
}

function failed(folder: string, why: string): GloveboxError {
  return new GloveboxError(
    "VIRTUAL_ENV_FAILED",
    `The virtual environment ${folder} could not be made: ${why}.`,
  )
}
