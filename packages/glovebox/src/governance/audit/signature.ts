import { type KeyObject, createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto"
import { GloveboxError } from "../../core/glovebox-error.ts"

/** A key of node:crypto, or its PEM text. */
export type AuditKey = KeyObject | string

/** What a checkpoint's signature is made of: it stands for all records before it. */
export function checkpointText(
  { seq, prev, at }: { seq: number; prev: string; at: string },
  every: number,
): string {
  return `glovebox-audit-checkpoint-v1\n${seq}\n${prev}\n${at}\n${every}\n`
}

/** What a head's signature is made of. */
export function headText(head: { seq: number; hash: string }): string {
  return `glovebox-audit-head-v1\n${head.seq}\n${head.hash}\n`
}

/** Signs with one private key. */
export class Signer {
  readonly #key: KeyObject
  /** Names the key. */
  readonly keyId: string

  constructor(key: AuditKey) {
    this.#key = readKey("signingKey", key, createPrivateKey, "private")
    this.keyId = keyIdOf(createPublicKey(this.#key))
  }

  sign(text: string): string {
    return sign(null, Buffer.from(text), this.#key).toString("base64")
  }
}

/** Checks with one public key. */
export class SignatureCheck {
  readonly #key: KeyObject
  readonly keyId: string

  constructor(key: AuditKey) {
    this.#key = readKey("publicKey", key, createPublicKey, "public")
    this.keyId = keyIdOf(this.#key)
  }

  holds(text: string, signature: unknown): boolean {
    if (typeof signature !== "string") return false
    return verify(null, Buffer.from(text), this.#key, Buffer.from(signature, "base64"))
  }
}

function readKey(
  option: string,
  key: AuditKey,
  read: (pem: string) => KeyObject,
  type: "private" | "public",
): KeyObject {
  let object: KeyObject | undefined
  try {
    object = typeof key === "string" ? read(key) : key
  } catch {
    // The cause could show a part of the key.
  }
  if (object?.type === type && object.asymmetricKeyType === "ed25519") return object
  throw new GloveboxError("OPTION_INVALID", `${option} must be a ${type} Ed25519 key, as an object or PEM.`)
}

function keyIdOf(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("hex")
}
