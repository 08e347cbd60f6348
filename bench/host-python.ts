import { execFile, spawn } from "node:child_process"
import { promisify } from "node:util"
import { BenchError } from "./bench-error.ts"
import { checkPrinted } from "./programs.ts"

/** The path of an interpreter itself: a shim of a version manager costs many times what Python does. */
export async function findHostPython(): Promise<string> {
  for (const candidate of ["/usr/bin/python3", "python3"]) {
    try {
      const { stdout } = await promisify(execFile)(candidate, ["-c", "import sys; print(sys.executable)"])
      if (stdout.trim() !== "") return stdout.trim()
    } catch {
      continue
    }
  }
  throw new BenchError("There is no python3 on this machine, which is what the sandbox is compared with.")
}

/** Runs code as any program would that has no sandbox. */
export async function runOnHost(python: string, code: string): Promise<void> {
  const child = spawn(python, ["-c", code], { stdio: ["ignore", "pipe", "inherit"] })
  let output = ""
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")))
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", resolve)
  })
  checkPrinted(output, exitCode)
}
