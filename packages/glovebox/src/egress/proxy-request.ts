import type { ByteStream } from "./byte-stream.ts"
import type { Asked } from "./egress-log.ts"
import { forwardedFields, forwardedHead } from "./forwarded-head.ts"
import { misleadingHeader } from "./misleading-header.ts"
import { printable } from "./refusal.ts"
import { type AnswerForm, socksReply } from "./refusal-answer.ts"
import { type RequestFraming, readFraming, smuggling } from "./request-framing.ts"
import {
  type HeaderField,
  type RequestHead,
  malformed,
  parseRequestHead,
  readHeadBytes,
} from "./request-head.ts"
import {
  type HostAndPort,
  checkConnectHostField,
  checkHostField,
  readAbsoluteTarget,
  readConnectTarget,
  readOriginTarget,
  readUpgrade,
} from "./request-target.ts"
import type { EgressUse } from "./rule-book.ts"
import { greetSocks, readSocksRequest, unsupported } from "./socks-request.ts"

/** A connection that a client wants, for it to use as it likes. */
export interface TunnelRequest extends HostAndPort {
  readonly kind: "tunnel"
  /** What tells the client that it has it. */
  readonly established: Buffer
}

/** One HTTP request. */
export interface HttpRequest extends HostAndPort {
  readonly kind: "http"
  readonly use: EgressUse & { readonly kind: "http" }
  /** Path and query. */
  readonly target: string
  /** The fields that are for the server. */
  readonly fields: readonly HeaderField[]
  /** The head as the server gets it, with these fields. */
  readonly head: (fields: readonly HeaderField[]) => Buffer
  readonly framing: RequestFraming
}

export interface ReadRequestOptions {
  readonly stream: ByteStream
  /** Written while the request is read, so that a refusal says what it is about. */
  readonly asked: Asked
  /** In what the client understands a refusal, from now on. */
  readonly onForm: (form: AnswerForm) => void
}

const SOCKS4 = 4
const SOCKS5 = 5
const ESTABLISHED = Buffer.from("HTTP/1.1 200 Connection established\r\n\r\n")

/** Reads what a client wants of the proxy; undefined when it leaves without a word. Throws Refusal. */
export async function readProxyRequest(
  options: ReadRequestOptions,
): Promise<TunnelRequest | HttpRequest | undefined> {
  const { stream, asked, onForm } = options
  const first = await stream.read()
  if (!first) return undefined
  stream.unread(first)
  if (first[0] === SOCKS5) return readSocks(options)
  if (first[0] === SOCKS4) {
    onForm("socks4")
    throw unsupported("SOCKS4 does not pass.", "Use SOCKS5 (socks5h://) or an HTTP proxy.")
  }
  onForm("http")
  const head = parseRequestHead(await readHeadBytes(stream))
  if (head.method === "CONNECT") return readConnect(head, asked)
  asked.via = "http"
  asked.method = head.method
  asked.host = printable(/^[a-z]+:\/\/([^/?#]*)/i.exec(head.target)?.[1] ?? "")
  const target = readAbsoluteTarget(head.target)
  tell(asked, target)
  return httpRequest(head, target, target.path, asked)
}

/** Reads the request that a client sends in a connection that it has. Throws Refusal. */
export async function readInnerRequest(
  { stream, asked }: Omit<ReadRequestOptions, "onForm">,
  target: HostAndPort,
  isTls = false,
): Promise<HttpRequest> {
  const head = parseRequestHead(await readHeadBytes(stream))
  asked.method = head.method
  // A server that is a proxy itself would lead anywhere from there.
  if (head.method === "CONNECT")
    throw unsupported("CONNECT inside a connection does not pass.", "Ask this proxy for the host itself.")
  return httpRequest(head, target, readOriginTarget(head.target), asked, isTls)
}

async function readSocks({ stream, asked, onForm }: ReadRequestOptions): Promise<TunnelRequest> {
  asked.via = "socks5"
  await greetSocks(stream)
  onForm("socks5")
  const target = await readSocksRequest(stream, (host, port) => Object.assign(asked, { host, port }))
  tell(asked, target)
  return { kind: "tunnel", ...target, established: socksReply(0) }
}

function readConnect(head: RequestHead, asked: Asked): TunnelRequest {
  asked.via = "connect"
  asked.host = printable(head.target)
  const target = readConnectTarget(head.target)
  tell(asked, target)
  checkConnectHostField(head, target)
  const framing = readFraming(head)
  if (framing.kind === "chunked" || framing.length > 0) throw smuggling("is a CONNECT with a body")
  return { kind: "tunnel", ...target, established: ESTABLISHED }
}

function httpRequest(
  head: RequestHead,
  target: HostAndPort,
  pathAndQuery: string,
  asked: Asked,
  isTls = false,
): HttpRequest {
  const { host, port } = target
  const path = pathAndQuery.split("?", 1)[0]!
  asked.path = printable(path)
  checkHostField(head, target, isTls)
  const framing = readFraming(head)
  const upgrade = readUpgrade(head)
  if (upgrade !== undefined && (framing.kind === "chunked" || framing.length > 0))
    throw malformed("The request asks for an upgrade and has a body.")
  return {
    kind: "http",
    host,
    port,
    use: {
      kind: "http",
      method: head.method,
      path,
      isUpgrade: upgrade !== undefined,
      misleading: misleadingHeader(head),
    },
    target: pathAndQuery,
    fields: forwardedFields(head),
    head: (fields) =>
      forwardedHead(head, fields, { host, port, path: pathAndQuery, framing, upgrade, isTls }),
    framing,
  }
}

function tell(asked: Asked, { host, port }: HostAndPort): void {
  asked.host = host.text
  asked.port = port
}

/** What was asked for, in one line. */
export function describeAsked({ host, port, method, path, intercepted }: Asked): string {
  const authority = `${host.includes(":") && port > 0 ? `[${host}]` : host}${port > 0 ? `:${port}` : ""}`
  return method === undefined
    ? authority
    : `${method} http${intercepted ? "s" : ""}://${authority}${path ?? ""}`
}
