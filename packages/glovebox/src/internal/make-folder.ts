import { mkdir } from "node:fs/promises"
import { dirname } from "node:path"

export interface MakeFolderOptions {
  /** Of all that is made. */
  readonly mode?: number | undefined
}

/** Makes a folder and those above it. Node's own way never ends where a folder cannot be made, as in /proc. */
export async function makeFolder(path: string, { mode }: MakeFolderOptions = {}): Promise<void> {
  try {
    await makeOne(path, mode)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== "ENOENT" || dirname(path) === path) throw error
    await makeFolder(dirname(path), { mode })
    await makeOne(path, mode)
  }
}

async function makeOne(path: string, mode: number | undefined): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    // Fails for what is no folder.
    await mkdir(path, { recursive: true })
  }
}
