import { randomInt } from "node:crypto"
import { type Host, type SecretHost, isTarget, readSecretHost } from "../policy/index.ts"
import type { HeaderField } from "./request-head.ts"
import { SecretFinder } from "./secret-finder.ts"
import { secretForms } from "./secret-forms.ts"

/** The shortest value that a placeholder of its length can stand for. */
export const LEAST_SECRET_LENGTH = 16
const PREFIX = "gbx_"
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
const PLACE = "{value}"
// They ask for answers in which the gate could not see whether the value is there.
const HIDING = new Set(["a-im", "accept-charset", "accept-encoding", "sec-websocket-extensions"])

/** A value that the gate puts in where a sandbox has its placeholder. */
export interface GateSecret {
  readonly name: string
  readonly value: string
  readonly placeholder: string
  /** As the policy has them. */
  readonly hosts: readonly string[]
  readonly header?: string | undefined
  readonly format?: string | undefined
}

export interface PlacedSecrets {
  readonly fields: readonly HeaderField[]
  /** Whose values are in the fields. */
  readonly used: readonly string[]
  /** Whose placeholders stay as they are: they were sent where the value may not go. */
  readonly withheld: readonly string[]
  /** What must not come back; undefined where no secret may go to the host. */
  readonly kept: SecretFinder | undefined
}

export interface RequestPlace {
  readonly host: Host
  readonly port: number
  readonly isTls: boolean
  /** Path and query. */
  readonly target: string
}

interface TargetedSecret extends GateSecret {
  readonly targets: readonly SecretHost[]
}

/** What stands for a value: as long as it, and not to be guessed. */
export function makePlaceholder(value: string): string {
  const letters = Array.from(
    { length: value.length - PREFIX.length },
    () => LETTERS[randomInt(LETTERS.length)],
  )
  return `${PREFIX}${letters.join("")}`
}

/** Puts values into requests, each for its hosts alone. */
export class GateSecrets {
  readonly #secrets: readonly TargetedSecret[]
  readonly #finders = new Map<string, SecretFinder>()

  constructor(secrets: readonly GateSecret[]) {
    this.#secrets = secrets.map((secret) => ({ ...secret, targets: secret.hosts.map(readTarget) }))
  }

  /** The fields of a request to this place, as the server gets them. */
  place(given: readonly HeaderField[], { host, port, isTls, target }: RequestPlace): PlacedSecrets {
    const used: string[] = []
    const withheld: string[] = []
    let fields = given
    for (const secret of this.#secrets) {
      const isFor = secret.targets.some(
        ({ target: to, isPlain }) => isPlain !== isTls && isTarget(to, host, port),
      )
      const placed = isFor ? placeOne(fields, secret) : undefined
      if (placed) {
        fields = placed
        used.push(secret.name)
      } else if (target.includes(secret.placeholder) || given.some(({ value }) => has(value, secret)))
        withheld.push(secret.name)
    }
    const kept = this.#finderFor(host)
    return { fields: kept ? readable(fields) : fields, used, withheld, kept }
  }

  // By the host alone: it can give back later, and elsewhere, what it was sent.
  #finderFor(host: Host): SecretFinder | undefined {
    const own = this.#secrets.filter(({ targets }) =>
      targets.some(({ target }) => isTarget(target, host, target.port)),
    )
    if (own.length === 0) return undefined
    const key = own.map(({ name }) => name).join()
    let finder = this.#finders.get(key)
    if (!finder) {
      finder = new SecretFinder(own.flatMap(({ value, placeholder }) => secretForms(value, placeholder)))
      this.#finders.set(key, finder)
    }
    return finder
  }
}

function readable(fields: readonly HeaderField[]): HeaderField[] {
  return [
    ...fields.filter(({ key }) => !HIDING.has(key)),
    { name: "Accept-Encoding", key: "accept-encoding", value: "identity" },
  ]
}

// Undefined where there is no place for it.
function placeOne(fields: readonly HeaderField[], secret: GateSecret): HeaderField[] | undefined {
  if (secret.header === undefined) {
    if (!fields.some(({ value }) => has(value, secret))) return undefined
    return fields.map((field) => ({ ...field, value: filled(field.value, secret) }))
  }
  const key = secret.header.toLowerCase()
  const own = fields.filter((field) => field.key === key)
  // Another credential of the code's own stays.
  if (own.some(({ value }) => !has(value, secret))) return undefined
  const value = (secret.format ?? PLACE).split(PLACE).join(secret.value)
  return [...fields.filter((field) => field.key !== key), { name: secret.header, key, value }]
}

function has(text: string, secret: GateSecret): boolean {
  return text.includes(secret.placeholder) || credentialsOf(text).includes(secret.placeholder)
}

function filled(text: string, { placeholder, value }: GateSecret): string {
  const plain = text.split(placeholder).join(value)
  const credentials = credentialsOf(plain)
  if (!credentials.includes(placeholder)) return plain
  return `Basic ${Buffer.from(credentials.split(placeholder).join(value), "latin1").toString("base64")}`
}

// What a client has made unreadable by base64: a user and a password.
function credentialsOf(text: string): string {
  const encoded = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(text)?.[1]
  return encoded === undefined ? "" : Buffer.from(encoded, "base64").toString("latin1")
}

function readTarget(text: string): SecretHost {
  const read = readSecretHost(text)
  // The policy has read it before; a host that cannot be read must not become another.
  if ("fault" in read) throw new TypeError(`${text} ${read.fault}`)
  return read
}
