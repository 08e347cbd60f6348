import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import type { LabOutsideRun } from "../probes/index.ts"

const LIMIT_MS = 30_000
const MOST_OUTPUT = 1024 ** 2

/**
 * Runs a probe's own program in the plain interpreter of this machine, without any sandbox: what a sandbox is to refuse has
 * to work there. Never for code of others. Undefined where there is no such interpreter.
 */
export async function runOutside(
  language: "python" | "javascript",
  code: string,
  signal: AbortSignal,
): Promise<LabOutsideRun | undefined> {
  const program = language === "javascript" ? process.execPath : findPython()
  if (program === undefined) return undefined
  const args = language === "javascript" ? ["--no-warnings", "-e", code] : ["-I", "-c", code]
  const child = spawn(program, args, { cwd: tmpdir(), stdio: ["ignore", "pipe", "pipe"], timeout: LIMIT_MS })
  const stop = (): void => void child.kill("SIGKILL")
  signal.addEventListener("abort", stop, { once: true })
  const said = { stdout: "", stderr: "" }
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      if (said[stream].length < MOST_OUTPUT) said[stream] += text
    })
  }
  try {
    const [code_, by] = (await once(child, "close")) as [number | null, string | null]
    return { ...said, exitCode: code_ ?? 1, termination: by === null ? "exit" : "signal" }
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

function findPython(): string | undefined {
  const folders = ["/usr/bin", ...(process.env["PATH"] ?? "").split(delimiter)]
  const names = process.platform === "win32" ? ["python.exe"] : ["python3"]
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path))
}
