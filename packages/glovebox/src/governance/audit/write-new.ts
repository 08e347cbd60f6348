import { open, rm } from "node:fs/promises"

/** Writes a file that was not there: a link that somebody put in its place is removed, and not followed. */
export async function writeNew(path: string, data: string | Uint8Array): Promise<void> {
  await rm(path, { force: true })
  const handle = await open(path, "wx", 0o600)
  try {
    await handle.writeFile(data)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
