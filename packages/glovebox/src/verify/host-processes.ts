import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile, readdir } from "node:fs/promises"

/** How many processes of this machine have the text in their command; undefined where that is not to be seen. */
export async function processesWith(text: string): Promise<number | undefined> {
  const names = await readdir("/proc").catch(() => undefined)
  if (!names) return undefined
  const pids = names.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  const commands = await Promise.all(
    pids.map(async (pid) => readFile(`/proc/${pid}/cmdline`, "latin1").catch(() => "")),
  )
  return commands.filter((command) => command.includes(text)).length
}

/** Whether this machine has a process of this number. */
export function isProcess(id: number): boolean {
  try {
    process.kill(id, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** A process of this machine, which waits, with the text in its command. */
export async function processNamed(text: string): Promise<AsyncDisposable> {
  const wait = "process.stdin.resume(); process.stdin.on('end', () => process.exit())"
  const child = spawn(process.execPath, ["-e", wait, text], { stdio: ["pipe", "ignore", "ignore"] })
  child.stdin.on("error", () => {})
  await once(child, "spawn")
  return {
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, "exit")
      child.kill("SIGKILL")
      await gone
    },
  }
}
