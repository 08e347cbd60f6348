import { type Host, readHost } from "../policy/index.ts"
import type { ByteStream } from "./byte-stream.ts"
import { Refusal, printable } from "./refusal.ts"
import { badHost } from "./request-target.ts"

const VERSION = 5
const NO_AUTHENTICATION = 0
const CONNECT = 1
const IPV4 = 1
const NAME = 3
const IPV6 = 4

/** Answers of the greeting. */
const TAKE_NO_AUTHENTICATION = Buffer.from([VERSION, NO_AUTHENTICATION])
const NO_METHOD = Buffer.from([VERSION, 0xff])

export interface SocksTarget {
  readonly host: Host
  readonly port: number
}

/** What a SOCKS5 client wants to reach, as text, as soon as it is known. */
export type OnAsked = (host: string, port: number) => void

/** Agrees with a SOCKS5 client that there is no authentication. Throws Refusal; then it has been answered already. */
export async function greetSocks(stream: ByteStream): Promise<void> {
  const start = await take(stream, 2)
  const methods = await take(stream, start[1]!)
  if (methods.includes(NO_AUTHENTICATION)) return stream.send(TAKE_NO_AUTHENTICATION)
  stream.send(NO_METHOD)
  throw unsupported("The SOCKS5 client wants to authenticate.", "Use SOCKS5 without user name and password.")
}

/** Reads what it asks for. Throws Refusal. */
export async function readSocksRequest(stream: ByteStream, onAsked: OnAsked): Promise<SocksTarget> {
  const start = await take(stream, 4)
  const [version, command, reserved, type] = start
  if (version !== VERSION || reserved !== 0) throw badSocks("is none of version 5")
  const text = await readAddress(stream, type!)
  const port = (await take(stream, 2)).readUInt16BE(0)
  onAsked(printable(text.replaceAll(/[[\]]/g, "")), port)
  if (command !== CONNECT)
    throw unsupported(
      "Of SOCKS5 only CONNECT passes: no BIND, no UDP.",
      "Make TCP connections to hosts in network.allow; names are resolved by the proxy.",
    )
  if (port === 0) throw badSocks("has port 0")
  const read = readHost(text)
  if ("fault" in read) throw badHost(text, read.fault)
  return { host: read.host, port }
}

async function readAddress(stream: ByteStream, type: number): Promise<string> {
  if (type === IPV4) return (await take(stream, 4)).join(".")
  if (type === IPV6) {
    const bytes = await take(stream, 16)
    const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16))
    return `[${groups.join(":")}]`
  }
  if (type !== NAME) throw badSocks("has an address of an unknown type")
  const length = (await take(stream, 1))[0]!
  const text = (await take(stream, length)).toString("latin1")
  // Brackets are how an address is written here, never a name.
  if (text.startsWith("[")) throw badHost(text, "is not a name")
  return text
}

async function take(stream: ByteStream, count: number): Promise<Buffer> {
  const bytes = count === 0 ? Buffer.alloc(0) : await stream.readExactly(count)
  if (!bytes) throw badSocks("was cut off")
  return bytes
}

function badSocks(what: string): Refusal {
  return new Refusal("BAD_REQUEST", `The SOCKS request ${what}.`, "Use SOCKS5 (RFC 1928), or an HTTP proxy.")
}

export function unsupported(message: string, suggestion: string): Refusal {
  return new Refusal("UNSUPPORTED", message, suggestion)
}
