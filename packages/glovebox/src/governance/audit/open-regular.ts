import { constants } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { GloveboxError } from "../../core/glovebox-error.ts"

/** Opens a file for reading. What is no plain file is refused: nobody waits for the other end of a pipe. */
export async function openRegular(
  path: string,
  { followsLinks = true }: { readonly followsLinks?: boolean } = {},
): Promise<FileHandle> {
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)
  const noLink = followsLinks ? 0 : (constants.O_NOFOLLOW ?? 0)
  const handle = await open(path, flags | noLink).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ELOOP" && !followsLinks ? irregular(path) : error
  })
  try {
    if (!(await handle.stat()).isFile()) throw irregular(path)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

function irregular(path: string): GloveboxError {
  return new GloveboxError("AUDIT_LOG_BROKEN", `${path} is no regular file.`)
}
