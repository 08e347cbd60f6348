import { type Host, describeTarget, readAuthority, readHost } from "../policy/index.ts"
import { Refusal, printable } from "./refusal.ts"
import { type RequestHead, malformed, membersOf, valuesOf } from "./request-head.ts"

export interface HostAndPort {
  readonly host: Host
  readonly port: number
}

const HTTP_PORT = 80
const HTTPS_PORT = 443

/** Reads the target of CONNECT. Throws Refusal. */
export function readConnectTarget(target: string): HostAndPort {
  const read = readAuthority(target)
  if ("fault" in read) throw badHost(target, read.fault)
  return read
}

/** Reads a target in absolute form, as a proxy gets it. Throws Refusal. */
export function readAbsoluteTarget(target: string): HostAndPort & { readonly path: string } {
  const match = /^http:\/\/([^/?#]*)(.*)$/i.exec(target)
  if (!match) throw notAbsolute(target)
  const [, authority = "", rest = ""] = match
  const { host, port } = readUriAuthority(authority)
  return { host, port, path: readPath(rest.startsWith("/") ? rest : `/${rest}`) }
}

/** Reads a target in origin form, as a server gets it. Throws Refusal. */
export function readOriginTarget(target: string): string {
  if (!target.startsWith("/")) throw malformed("The target of a request in a connection must be a path.")
  return readPath(target)
}

/** Throws Refusal unless the request names, once, the host that it is for. */
export function checkHostField(head: RequestHead, { host, port }: HostAndPort, isTls = false): void {
  const values = valuesOf(head, "host")
  const asked = describeTarget({ host, isWildcard: false, port })
  if (values.length !== 1) throw mismatch(`The request has ${values.length} Host headers.`, asked)
  const named = readUriAuthority(values[0]!, isTls ? HTTPS_PORT : HTTP_PORT)
  if (named.host.text !== host.text || named.port !== port)
    throw mismatch(
      `The Host header says ${printable(values[0]!)}, and the connection is for ${asked}.`,
      asked,
    )
}

/** The same for CONNECT, where the header may be missing, and the port in it too. Throws Refusal. */
export function checkConnectHostField(head: RequestHead, { host, port }: HostAndPort): void {
  const values = valuesOf(head, "host")
  if (values.length === 0) return
  const asked = describeTarget({ host, isWildcard: false, port })
  const named = values.length === 1 ? readUriAuthority(values[0]!, port) : undefined
  if (named?.host.text !== host.text || named.port !== port)
    throw mismatch(`The Host header is not the host of CONNECT, ${asked}.`, asked)
}

/** What the request wants the connection to become, if it is allowed to ask. Throws Refusal. */
export function readUpgrade(head: RequestHead): string | undefined {
  const wanted = membersOf(head, "upgrade")
  if (wanted.length === 0) return undefined
  if (wanted.some((protocol) => protocol.startsWith("h2")) || valuesOf(head, "http2-settings").length > 0)
    throw new Refusal(
      "UNSUPPORTED",
      "An upgrade to HTTP/2 does not pass.",
      "Use HTTP/1.1, or HTTP/2 over TLS (https).",
    )
  if (wanted.length > 1 || !/^[a-z0-9.-]+(?:\/[a-z0-9.]+)?$/.test(wanted[0]!))
    throw malformed("The Upgrade header names more than one protocol.")
  return valuesOf(head, "upgrade").join("")
}

function readUriAuthority(authority: string, defaultPort = HTTP_PORT): HostAndPort {
  const hasPort = /^(?:\[[^\]]*\]|[^:]*):/.test(authority)
  const read = hasPort ? readAuthority(authority) : readHost(authority)
  if ("fault" in read) throw badHost(authority, read.fault)
  return { port: defaultPort, ...read }
}

function readPath(path: string): string {
  if (path.includes("#")) throw malformed("The target has a fragment, which is never sent.")
  return path
}

export function badHost(text: string, fault: string): Refusal {
  return new Refusal(
    "BAD_HOST",
    `The host "${printable(text)}" ${fault}.`,
    "Write a plain host name or a dotted IPv4 address, and the port in digits.",
  )
}

function notAbsolute(target: string): Refusal {
  if (/^https:/i.test(target))
    return new Refusal(
      "BAD_REQUEST",
      "A proxy cannot fetch an https URL: it would have to read it.",
      "Use CONNECT for https, as HTTP clients do when HTTPS_PROXY is set.",
    )
  if (target.startsWith("/"))
    return new Refusal(
      "BAD_REQUEST",
      "This is a proxy and no web server: the request names no host.",
      "Set HTTP_PROXY to this address and request http://host/path, or use CONNECT or SOCKS5.",
    )
  return new Refusal(
    "BAD_REQUEST",
    `The target ${printable(target.slice(0, 60))} is not an http URL.`,
    "Request http://host/path, or use CONNECT or SOCKS5.",
  )
}

function mismatch(message: string, asked: string): Refusal {
  return new Refusal("HOST_MISMATCH", message, `Send exactly one Host header, for ${asked}.`)
}
