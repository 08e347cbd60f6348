import { lstat, rm, rmdir } from "node:fs/promises"
import { join } from "node:path"

/** Removes a file below a folder of the host, and folders that are empty then; nothing through a link. */
export async function removeWorkspaceFile(root: string, path: string): Promise<void> {
  const parts = path.split("/")
  for (let depth = 1; depth < parts.length; depth += 1) {
    const found = await lstat(join(root, ...parts.slice(0, depth))).catch(() => undefined)
    if (!found?.isDirectory()) return
  }
  const found = await lstat(join(root, path)).catch(() => undefined)
  if (!found?.isFile()) return
  await rm(join(root, path))
  for (let depth = parts.length - 1; depth > 0; depth -= 1) {
    // Only an empty one goes.
    await rmdir(join(root, ...parts.slice(0, depth))).catch(() => {})
  }
}
