import { type KeyObject, generateKeyPairSync } from "node:crypto"
import { type SecureContext, createSecureContext } from "node:tls"
import { makeCertificate } from "./certificate.ts"

const NAME = "Glovebox, for one sandbox"
const HOUR_MS = 3_600_000
const LIFE_MS = 7 * 24 * HOUR_MS
// A wildcard has names without end.
const MOST_HOSTS = 256

interface Keys {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

/** Vouches for hosts to the programs of one sandbox. Its key is nowhere but in this process's memory. */
export class CertificateAuthority {
  /** What programs have to trust, as PEM. */
  readonly certificate: string
  readonly #keys = newKeys()
  readonly #hostKeys = newKeys()
  readonly #hostKey: string
  readonly #contexts = new Map<string, SecureContext>()
  readonly #until: Date
  readonly #from: Date

  constructor() {
    const now = Date.now()
    // A sandbox with a kernel of its own may have another clock.
    this.#from = new Date(now - HOUR_MS)
    this.#until = new Date(now + LIFE_MS)
    this.#hostKey = this.#hostKeys.privateKey.export({ type: "pkcs8", format: "pem" }).toString()
    this.certificate = this.#make(this.#keys.publicKey, NAME)
  }

  /** What a server for this host shows. */
  contextFor(host: string): SecureContext {
    const known = this.#contexts.get(host)
    if (known) return known
    if (this.#contexts.size >= MOST_HOSTS) this.#contexts.clear()
    const cert = this.#make(this.#hostKeys.publicKey, host, host)
    const context = createSecureContext({ cert, key: this.#hostKey, minVersion: "TLSv1.2" })
    this.#contexts.set(host, context)
    return context
  }

  #make(key: KeyObject, name: string, host?: string): string {
    const issuer = { name: NAME, ...this.#keys }
    return makeCertificate({ key, name, host, issuer, from: this.#from, until: this.#until })
  }
}

function newKeys(): Keys {
  return generateKeyPairSync("ec", { namedCurve: "P-256" })
}
