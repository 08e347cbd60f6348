import { constants } from "node:fs"
import { access, mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { errorMessage } from "../../internal/error-message.ts"
import { makeFolder } from "../../internal/make-folder.ts"
import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"

/** Makes the folder of --out before anything is paid for, so that files have a place in the end. */
export async function openOut(out: string): Promise<string> {
  const folder = resolve(out)
  try {
    await makeFolder(folder)
    await access(folder, constants.W_OK)
    return folder
  } catch (cause) {
    throw new CommandFailure(`--out ${out} cannot be used: ${errorMessage(cause)}.`, {
      cause,
      exitCode: EXIT_USAGE,
    })
  }
}

/** A folder for files that nobody named one for. */
export async function freshOut(): Promise<string> {
  return mkdtemp(join(tmpdir(), "glovebox-out-"))
}
