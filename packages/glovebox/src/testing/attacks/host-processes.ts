import { readFile, readdir } from "node:fs/promises"

/** Processes of this machine whose command line or name holds the text. */
async function processesWith(text: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue
    const line = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "")
    if (line.includes(text) && !isTestRunner(line)) found.push(Number(name))
  }
  return found
}

// The agent's own command line, and a test runner's, may quote the program.
function isTestRunner(line: string): boolean {
  return line.includes("vitest") || line.includes("--test")
}

/** How many milliseconds it takes until no such process is left; fails when that takes too long. */
export async function untilGone(text: string, seconds: number): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    const left = await processesWith(text)
    const elapsed = performance.now() - startedAt
    if (left.length === 0) return elapsed
    if (elapsed > seconds * 1000) {
      throw new Error(`${left.length} processes with ${text} are left after ${seconds} s: ${left.join(", ")}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
