import { type Host, describeTarget } from "../policy/index.ts"
import type { RequestFraming } from "./request-framing.ts"
import { type HeaderField, type RequestHead, membersOf } from "./request-head.ts"

// Between two neighbours only, or written anew here.
const DROPPED = new Set([
  "connection",
  "content-length",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
])

export interface ForwardedHeadOptions {
  readonly host: Host
  readonly port: number
  readonly path: string
  readonly framing: RequestFraming
  readonly upgrade: string | undefined
  readonly isTls: boolean
}

/** The fields of a request that are for its server. */
export function forwardedFields(head: RequestHead): readonly HeaderField[] {
  const named = new Set(membersOf(head, "connection"))
  return head.fields.filter(({ key }) => !DROPPED.has(key) && !named.has(key) && !key.startsWith("proxy-"))
}

/** The head as the server gets it, with these fields: in origin form, for one request, framed in one way only. */
export function forwardedHead(
  head: RequestHead,
  fields: readonly HeaderField[],
  { host, port, path, framing, upgrade, isTls }: ForwardedHeadOptions,
): Buffer {
  const authority = describeTarget({ host, isWildcard: false, port })
  const usual = isTls ? ":443" : ":80"
  const hasLength = head.fields.some(({ key }) => key === "content-length")
  const lines = [
    `${head.method} ${path} HTTP/${head.version}`,
    `Host: ${port === Number(usual.slice(1)) ? authority.slice(0, -usual.length) : authority}`,
    ...fields.map(({ name, value }) => `${name}: ${value}`),
    ...(framing.kind === "chunked" ? ["Transfer-Encoding: chunked"] : []),
    ...(framing.kind === "length" && hasLength ? [`Content-Length: ${framing.length}`] : []),
    ...(upgrade === undefined ? ["Connection: close"] : ["Connection: Upgrade", `Upgrade: ${upgrade}`]),
  ]
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1")
}
