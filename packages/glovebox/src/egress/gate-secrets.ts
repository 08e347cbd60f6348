import { randomInt } from "node:crypto"
import { type Host, type SecretHost, isTarget, readSecretHost } from "../policy/index.ts"
import type { HeaderField } from "./request-head.ts"
import { type Replacement, secretForms } from "./secret-forms.ts"

/** The shortest value that a placeholder of its length can stand for. */
export const LEAST_SECRET_LENGTH = 16
const PREFIX = "gbx_"
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
const PLACE = "{value}"
// Of an answer in these the gate could not see whether the value is in it.
const HIDING = new Set(["accept-encoding", "sec-websocket-extensions"])

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
  /** What must not come back. */
  readonly replacements: readonly Replacement[]
}

export interface RequestPlace {
  readonly host: Host
  readonly port: number
  readonly isTls: boolean
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
  readonly #secrets: readonly (GateSecret & { readonly targets: readonly SecretHost[] })[]

  constructor(secrets: readonly GateSecret[]) {
    this.#secrets = secrets.map((secret) => ({ ...secret, targets: secret.hosts.map(readTarget) }))
  }

  /** The fields of a request to this place, as the server gets them. */
  place(given: readonly HeaderField[], { host, port, isTls }: RequestPlace): PlacedSecrets {
    const used: GateSecret[] = []
    const withheld: string[] = []
    let fields = given
    for (const secret of this.#secrets) {
      const isFor = secret.targets.some(
        ({ target, isPlain }) => isPlain !== isTls && isTarget(target, host, port),
      )
      const placed = isFor ? placeOne(fields, secret) : undefined
      if (placed) {
        fields = placed
        used.push(secret)
      } else if (given.some(({ value }) => has(value, secret))) withheld.push(secret.name)
    }
    if (used.length > 0)
      fields = [
        ...fields.filter(({ key }) => !HIDING.has(key)),
        { name: "Accept-Encoding", key: "accept-encoding", value: "identity" },
      ]
    return {
      fields,
      used: used.map(({ name }) => name),
      withheld,
      replacements: used.flatMap(({ value, placeholder }) => secretForms(value, placeholder)),
    }
  }
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
