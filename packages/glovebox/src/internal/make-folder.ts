import { mkdir } from "node:fs/promises"
import { dirname } from "node:path"

/** Makes a folder and those above it. Node's own way never ends where a folder cannot be made, as in /proc. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: false })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EEXIST") {
      // Fails for what is no folder.
      await mkdir(path, { recursive: true })
      return
    }
    if (code !== "ENOENT" || dirname(path) === path) throw error
    await makeFolder(dirname(path))
    await mkdir(path)
  }
}
