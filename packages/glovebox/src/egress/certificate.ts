import { type KeyObject, createHash, randomBytes, sign } from "node:crypto"
import { isIPv4, isIPv6 } from "node:net"
import { der } from "./der.ts"

const ECDSA_WITH_SHA256 = der.sequence(der.identifier("1.2.840.10045.4.3.2"))
const COMMON_NAME = "2.5.4.3"
const SUBJECT_KEY = "2.5.29.14"
const KEY_USAGE = "2.5.29.15"
const ALTERNATIVE_NAME = "2.5.29.17"
const BASIC_CONSTRAINTS = "2.5.29.19"
const AUTHORITY_KEY = "2.5.29.35"
const EXTENDED_USAGE = "2.5.29.37"
const SERVER_AUTHENTICATION = "1.3.6.1.5.5.7.3.1"
const LONGEST_NAME = 64

export interface CertificateRequest {
  /** The public key that it is for. */
  readonly key: KeyObject
  readonly name: string
  /** A host that it is good for; without one it is an authority's. */
  readonly host?: string | undefined
  readonly issuer: { readonly name: string; readonly publicKey: KeyObject; readonly privateKey: KeyObject }
  readonly from: Date
  readonly until: Date
}

/** An X.509 certificate, signed with a key on the curve P-256. As PEM. */
export function makeCertificate({ key, name, host, issuer, from, until }: CertificateRequest): string {
  const subject = nameOf(name.slice(0, LONGEST_NAME))
  const body = der.sequence(
    // Version 3.
    der.wrapped(0, der.integer(Buffer.from([2]))),
    der.integer(randomBytes(16)),
    ECDSA_WITH_SHA256,
    nameOf(issuer.name),
    der.sequence(der.time(from), der.time(until)),
    subject,
    spki(key),
    der.wrapped(3, der.sequence(...extensionsOf(key, issuer.publicKey, host))),
  )
  const signature = sign("sha256", body, issuer.privateKey)
  const bytes = der.sequence(body, ECDSA_WITH_SHA256, der.bits(signature))
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`
}

function extensionsOf(key: KeyObject, issuer: KeyObject, host: string | undefined): Buffer[] {
  const keys = [
    extension(SUBJECT_KEY, false, der.octets(keyId(key))),
    extension(AUTHORITY_KEY, false, der.sequence(der.context(0, keyId(issuer)))),
  ]
  if (host === undefined)
    return [
      // It signs hosts, and no further authorities.
      extension(BASIC_CONSTRAINTS, true, der.sequence(der.boolean(true), der.integer(Buffer.from([0])))),
      // To sign certificates, and nothing else.
      extension(KEY_USAGE, true, der.bits(Buffer.from([0b0000_0100]), 2)),
      ...keys,
    ]
  return [
    extension(BASIC_CONSTRAINTS, true, der.sequence()),
    // To sign a handshake.
    extension(KEY_USAGE, true, der.bits(Buffer.from([0b1000_0000]), 7)),
    extension(EXTENDED_USAGE, false, der.sequence(der.identifier(SERVER_AUTHENTICATION))),
    extension(ALTERNATIVE_NAME, false, der.sequence(alternativeName(host))),
    ...keys,
  ]
}

function extension(identifier: string, isCritical: boolean, content: Buffer): Buffer {
  const critical = isCritical ? [der.boolean(true)] : []
  return der.sequence(der.identifier(identifier), ...critical, der.octets(content))
}

function nameOf(text: string): Buffer {
  return der.sequence(der.set(der.sequence(der.identifier(COMMON_NAME), der.text(text))))
}

function alternativeName(host: string): Buffer {
  if (isIPv4(host)) return der.context(7, Buffer.from(host.split(".").map(Number)))
  if (isIPv6(host)) return der.context(7, addressBytes(host))
  return der.context(2, Buffer.from(host, "latin1"))
}

function addressBytes(address: string): Buffer {
  const [head = "", tail] = address.split("::")
  const [before, after] = [groupsOf(head), groupsOf(tail)]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0")
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, "0")).join(""), "hex")
}

function groupsOf(text = ""): string[] {
  return text === "" ? [] : text.split(":")
}

function spki(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" })
}

function keyId(key: KeyObject): Buffer {
  return createHash("sha256").update(spki(key)).digest().subarray(0, 20)
}
