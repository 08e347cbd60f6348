import { readFile } from "node:fs/promises"
import { GloveboxError } from "../../../core/index.ts"
import { errorMessage } from "../../../internal/error-message.ts"

const MAX_PATH = 4096

/** The bytes of a certificate or key that was given as PEM text or as the path of a file. */
export async function readPem(name: string, given: string): Promise<Buffer> {
  if (given.includes("-----BEGIN ")) return Buffer.from(given)
  // A key that lost its first line would be shown as the name of a file that is not there.
  if (given.includes("\n") || given.length > MAX_PATH) {
    throw new GloveboxError("OPTION_INVALID", `${name} is neither PEM nor the path of a file.`)
  }
  const bytes = await readFile(given).catch((cause: unknown) => {
    throw new GloveboxError("OPTION_INVALID", `${name} cannot be read: ${errorMessage(cause)}`, { cause })
  })
  if (bytes.includes("-----BEGIN ")) return bytes
  throw new GloveboxError("OPTION_INVALID", `${name}: ${given} has no PEM in it.`)
}
