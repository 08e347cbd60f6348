import { chmod, readdir, rm } from "node:fs/promises"
import { join } from "node:path"

/** Removes a folder of ours with all that code left in it, also folders that it closed to itself. */
export async function removeFolder(folder: string): Promise<void> {
  const remove = async (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3 })
  await remove().catch(async () => {
    await open(folder)
    await remove()
  })
}

async function open(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => {})
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (entry.isDirectory()) await open(join(folder, entry.name))
}
