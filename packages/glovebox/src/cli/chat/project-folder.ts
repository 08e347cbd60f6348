import { access, mkdir, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"

/** The folder for what the command keeps of a project: in the repository's root, else in the folder itself. */
export async function projectFolder(folder: string, home: string = homedir()): Promise<string> {
  const start = resolve(folder)
  for (let at = start; ; at = dirname(at)) {
    if (await exists(join(at, ".git"))) return join(at, ".glovebox")
    if (at === home || dirname(at) === at) return join(start, ".glovebox")
  }
}

/** Makes a folder that only its user reads, and that is not checked in. */
export async function makePrivate(project: string, ...inner: readonly string[]): Promise<string> {
  await mkdir(project, { recursive: true, mode: 0o700 })
  await writeFile(join(project, ".gitignore"), "*\n", { flag: "wx" }).catch(() => {})
  const folder = join(project, ...inner)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return folder
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
