import { type ChildProcess, spawn } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const TSX = fileURLToPath(import.meta.resolve("tsx"))
const EXECUTOR = fileURLToPath(new URL("index.ts", import.meta.url))

export interface HostProgram {
  /** What of the module's top follows the imports; `Executor` is the class. */
  readonly code: string
  /** Programs before Node, such as one that becomes another user. */
  readonly under?: readonly string[]
  /** Files of this process that the program is to inherit, from number 3 on. */
  readonly inherits?: readonly number[]
}

/** A program that uses the executor, in a process of its own. */
export async function startHostProgram({ code, under = [], inherits = [] }: HostProgram): Promise<{
  readonly child: ChildProcess
  /** All that it printed, when it has ended. */
  readonly output: Promise<string>
  /** Resolves when it has printed this. */
  says(text: string): Promise<void>
}> {
  const folder = await mkdtemp("/var/tmp/glovebox-program-")
  const file = join(folder, "program.mts")
  await writeFile(
    file,
    `import { BubblewrapCodeExecutor as Executor } from ${JSON.stringify(EXECUTOR)}\n${code}\n`,
  )
  // Another user has to read it too.
  const open = ["-c", `chmod 755 ${folder}; exec "$@"`, "sh"]
  const node = [process.execPath, "--import", TSX, "--conditions", "@glovebox/source", file]
  const child = spawn("sh", [...open, ...under, ...node], {
    cwd: "/",
    stdio: ["ignore", "pipe", "pipe", ...inherits],
  })
  let said = ""
  const waiting = new Map<string, () => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk
      for (const [text, resolve] of waiting) if (said.includes(text)) resolve()
    })
  }
  const output = new Promise<string>((resolve) => {
    child.once("close", () => void rm(folder, { recursive: true, force: true }).then(() => resolve(said)))
  })
  const says = async (text: string): Promise<void> => {
    const heard = new Promise<void>((resolve) => {
      waiting.set(text, resolve)
      if (said.includes(text)) resolve()
    })
    const ended = output.then(() => {
      throw new Error(`it ended without saying ${text}: ${said}`)
    })
    await Promise.race([heard, ended])
  }
  return { child, output, says }
}

/** What such a program prints. */
export async function hostProgram(program: HostProgram): Promise<string> {
  return (await startHostProgram(program)).output
}
