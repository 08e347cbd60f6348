import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { z } from "zod"
import { BenchError } from "../bench-error.ts"

export const PYTHON_VARIABLE = "GLOVEBOX_AUTOGEN_PYTHON"

const SCRIPT = fileURLToPath(new URL("autogen_core_bench.py", import.meta.url))
const TIMEOUT_MS = 60_000
const run = promisify(execFile)

const ratesSchema = z.object({
  version: z.string(),
  serialPerSecond: z.number(),
  concurrentPerSecond: z.number(),
  deliveriesPerSecond: z.number(),
})

/** What AutoGen's own runtime does in a second, on the same machine and in the same minute. */
export type AutogenRates = z.infer<typeof ratesSchema>

/** The Python to compare with, or undefined when none is named. */
export async function findAutogenPython(): Promise<string | undefined> {
  const python = process.env[PYTHON_VARIABLE]
  if (python === undefined || python === "") return undefined
  try {
    await run(python, ["-c", "import autogen_core"], { timeout: TIMEOUT_MS })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.trim().split("\n").at(-1) : String(cause)
    throw new BenchError(
      `${PYTHON_VARIABLE} names ${python}, which cannot import autogen_core (${reason}). ` +
        "Name a Python with autogen-core installed, or unset the variable.",
      { cause },
    )
  }
  return python
}

export async function measureAutogen(python: string): Promise<AutogenRates> {
  const { stdout } = await run(python, [SCRIPT], {
    timeout: TIMEOUT_MS,
    // Off as ours is, so that the two do the same.
    env: { ...process.env, AUTOGEN_DISABLE_RUNTIME_TRACING: "true" },
  })
  return ratesSchema.parse(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""))
}
