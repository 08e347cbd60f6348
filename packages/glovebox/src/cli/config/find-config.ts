import { constants } from "node:fs"
import { access, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { GloveboxError } from "../../core/index.ts"

const CONFIG_NAMES = ["glovebox.config.yaml", "glovebox.config.yml", "glovebox.config.json"] as const

/**
 * The configuration of a folder: in it, or above it up to the repository's or the home folder. Elsewhere nothing above
 * is looked at, because it may be anybody's.
 */
export async function findConfig(folder: string, home: string = homedir()): Promise<string | undefined> {
  for (const candidate of await foldersUp(resolve(folder), resolve(home))) {
    const found: string[] = []
    for (const name of CONFIG_NAMES) if (await exists(join(candidate, name))) found.push(name)
    const [first, second] = found
    if (first === undefined) continue
    if (second !== undefined) {
      throw new GloveboxError(
        "CONFIG_INVALID",
        `Both ${first} and ${second} are in ${candidate}. Remove one, or name one by --config.`,
      )
    }
    await refuseForeign(join(candidate, first))
    return join(candidate, first)
  }
  return undefined
}

async function foldersUp(start: string, home: string): Promise<readonly string[]> {
  const folders: string[] = []
  for (let folder = start; ; folder = dirname(folder)) {
    folders.push(folder)
    if (folder === home || (await exists(join(folder, ".git")))) return folders
    if (dirname(folder) === folder) return [start]
  }
}

// Another user's file would decide which model sees the task, and what code may do.
async function refuseForeign(file: string): Promise<void> {
  const me = process.getuid?.()
  if (me === undefined) return
  const { uid } = await stat(file)
  if (uid === me || uid === 0) return
  throw new GloveboxError(
    "CONFIG_INVALID",
    `${file} belongs to another user (${uid}), so it is not used by itself. If you trust it: --config ${file}`,
  )
}

async function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  )
}
