import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface EditTextOptions {
  /** The terminal. */
  readonly fd: number | "inherit"
  /** Of the file, without the dot: editors go by it. */
  readonly extension: string
  readonly signal: AbortSignal
}

/** Lets a person change a text in the editor of VISUAL or EDITOR, else vi, in a file that is theirs alone. */
export async function editText(text: string, { fd, extension, signal }: EditTextOptions): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "glovebox-edit-"))
  try {
    const file = join(folder, `edit.${extension}`)
    await writeFile(file, text, { mode: 0o600, flag: "wx" })
    const editor = process.env["VISUAL"] || process.env["EDITOR"] || "vi"
    const [command = "vi", ...args] = editor.trim().split(/\s+/)
    const child = spawn(command, [...args, file], { stdio: [fd, fd, fd], signal })
    const [status] = (await once(child, "close")) as [number | null]
    if (status !== 0) throw new Error(`${command} ended with ${status ?? "a signal"}`)
    return await readFile(file, "utf8")
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
