import { open } from "node:fs/promises"

/** Makes new and changed names in a folder last; where folders cannot be opened, there is nothing to do. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
