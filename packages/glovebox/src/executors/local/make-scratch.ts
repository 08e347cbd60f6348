import { mkdtemp, realpath } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { GloveboxError } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"

/** A new folder among the temporary ones, which only this user can read. */
export async function makeScratch(prefix: string): Promise<string> {
  try {
    return await realpath(await mkdtemp(join(tmpdir(), prefix)))
  } catch (cause) {
    throw new GloveboxError(
      "WORKSPACE_FAILED",
      `No folder can be made in ${tmpdir()}, where temporary files go (TMPDIR): ${errorMessage(cause)}. Let TMPDIR be a folder that this user may write.`,
      { cause },
    )
  }
}
