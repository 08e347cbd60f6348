import { join } from "node:path"
import { GloveboxError } from "../../core/index.ts"

/** Lets a process of Node read a folder, and no other. */
export function readableFlag(folder: string): string {
  // Node takes these for more than themselves, and would let the process read other files.
  if (/[*,]/.test(folder)) {
    throw new GloveboxError(
      "SANDBOX_SETUP_FAILED",
      `The embedded sandbox cannot be confined where it is installed: ${folder} has a * or a comma in it. Install glovebox in another folder.`,
    )
  }
  return `--allow-fs-read=${join(folder, "*")}`
}
