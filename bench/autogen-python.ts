import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { BenchError } from "./bench-error.ts"

export const PYTHON_VARIABLE = "GLOVEBOX_AUTOGEN_PYTHON"

const IMPORT_MS = 60_000
const run = promisify(execFile)

/** The Python to compare with, which has these modules; or undefined when none is named. */
export async function findAutogenPython(...modules: readonly string[]): Promise<string | undefined> {
  const python = process.env[PYTHON_VARIABLE]
  if (python === undefined || python === "") return undefined
  const names = modules.join(", ")
  try {
    await run(python, ["-c", `import ${names}`], { timeout: IMPORT_MS })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.trim().split("\n").at(-1) : String(cause)
    throw new BenchError(
      `${PYTHON_VARIABLE} names ${python}, which cannot import ${names} (${reason}). ` +
        `Name a Python with ${modules.map((name) => name.replace("_", "-")).join(" and ")} installed, or unset the variable.`,
      { cause },
    )
  }
  return python
}

/** The last line that a script prints, as JSON. */
export async function runAutogen(python: string, script: string, timeoutMs: number): Promise<unknown> {
  const { stdout } = await run(python, [script], {
    timeout: timeoutMs,
    // Off as ours is, so that the two do the same.
    env: { ...process.env, AUTOGEN_DISABLE_RUNTIME_TRACING: "true" },
  })
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "")
}
