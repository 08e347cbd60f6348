import { access, lstat, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { makeFolder } from "../internal/make-folder.ts"
import { CommandFailure } from "./command-failure.ts"

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
  await makeFolder(project, { mode: 0o700 })
  await checkPrivate(project)
  await writeFile(join(project, ".gitignore"), "*\n", { flag: "wx" }).catch(() => {})
  let folder = project
  for (const name of inner) {
    folder = join(folder, name)
    await makeFolder(folder, { mode: 0o700 })
    await checkPrivate(folder)
  }
  return folder
}

/**
 * A folder that came with a clone of somebody's repository could have chats in it that the user never had, and links by
 * which the files of a chat would be the user's own. What this command makes is no link, and for its user alone.
 */
export async function checkPrivate(folder: string): Promise<void> {
  const found = await lstat(folder).catch(() => undefined)
  const me = process.getuid?.()
  if (!found || me === undefined) return
  const problem = problemOf(found, me)
  if (problem === undefined) return
  throw new CommandFailure(
    `${folder} was not made by this command: ${problem}. Look at what is in it, and remove it; or, if you made it: chmod 700 ${folder}`,
  )
}

function problemOf(
  found: {
    readonly uid: number
    readonly mode: number
    isDirectory(): boolean
    isSymbolicLink(): boolean
  },
  me: number,
): string | undefined {
  if (found.isSymbolicLink()) return "it is a link"
  if (!found.isDirectory()) return "it is no folder"
  if (found.uid !== me) return `it belongs to another user (${found.uid})`
  return (found.mode & 0o077) === 0 ? undefined : "others may look into it"
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
