import { type KeyObject, createPrivateKey } from "node:crypto"
import { readFile } from "node:fs/promises"
import { errorMessage } from "../../internal/error-message.ts"
import { CommandFailure } from "../command-failure.ts"

/** The key of `--audit-key`. */
export async function readSigningKey(file: string): Promise<KeyObject> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new CommandFailure(`--audit-key: ${file} cannot be read: ${errorMessage(cause)}`, { cause })
  })
  const key = privateKeyOf(text)
  if (key?.asymmetricKeyType === "ed25519") return key
  throw new CommandFailure(
    `--audit-key: ${file} has no private Ed25519 key as PEM. This makes one: openssl genpkey -algorithm ed25519 -out audit-key.pem`,
  )
}

function privateKeyOf(text: string): KeyObject | undefined {
  try {
    return createPrivateKey(text)
  } catch {
    return undefined
  }
}
