import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Lets a person change code in the editor of VISUAL or EDITOR, else vi. */
export async function editCode(code: string, signal: AbortSignal): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "glovebox-edit-"))
  try {
    const file = join(folder, "code.txt")
    await writeFile(file, code, { mode: 0o600 })
    const [command = "vi", ...args] = (process.env["VISUAL"] || process.env["EDITOR"] || "vi").split(/\s+/)
    const child = spawn(command, [...args, file], { stdio: "inherit", signal })
    const [status] = (await once(child, "close")) as [number | null]
    if (status !== 0) throw new Error(`${command} ended with ${status ?? "a signal"}`)
    return await readFile(file, "utf8")
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
