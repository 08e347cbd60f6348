import { GloveboxError } from "../../core/index.ts"
import type { PythonFunction } from "../functions/python-function.ts"
import { findProgram } from "./find-program.ts"
import type { Guard } from "../sandbox/guard.ts"
import { runSetupProcess } from "./setup-process.ts"
import type { VirtualEnvContext } from "./virtual-env-context.ts"

export interface PrepareFunctionsOptions {
  readonly functions: readonly PythonFunction[]
  readonly module: string
  readonly virtualEnv: VirtualEnvContext | undefined
  readonly env: Readonly<Record<string, string>>
  readonly scratch: string
  readonly guard: Guard
  readonly signal: AbortSignal
}

/** Installs what the functions need into the virtual environment, and sees that their module can be imported. */
export async function prepareFunctions(options: PrepareFunctionsOptions): Promise<void> {
  const { functions, module, virtualEnv, env, scratch, guard, signal } = options
  if (functions.length === 0) return
  const python =
    virtualEnv?.envExe ?? (await findProgram("python3", env)) ?? (await findProgram("python", env))
  if (python === undefined) {
    throw new GloveboxError(
      "LANGUAGE_UNAVAILABLE",
      "This machine has no python3 on the PATH, which the functions need: install Python 3.",
    )
  }
  const run = async (...args: string[]): Promise<{ isOk: boolean; said: string }> =>
    runSetupProcess({ argv: [python, ...args], cwd: scratch, env, scratch, guard, signal })
  const packages = [...new Set(functions.flatMap(({ pythonPackages }) => pythonPackages))]
  if (packages.length > 0) {
    const pip = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet"]
    const { isOk, said } = await run(...pip, "--", ...packages)
    if (!isOk) {
      throw new GloveboxError(
        "PACKAGES_FAILED",
        `pip could not install ${packages.join(", ")} into ${virtualEnv?.envDir ?? "it"}: ${said}`,
      )
    }
  }
  const { isOk, said } = await run("-c", `import ${module}`)
  if (isOk) return
  throw new GloveboxError("FUNCTION_INVALID", `The functions' module ${module} cannot be imported: ${said}`)
}
