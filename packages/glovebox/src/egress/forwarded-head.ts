import { type Host, describeTarget } from "../policy/index.ts"
import type { RequestFraming } from "./request-framing.ts"
import { type RequestHead, membersOf } from "./request-head.ts"

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
}

/** The head as the server gets it: in origin form, for one request, framed in one way only. */
export function forwardedHead(
  head: RequestHead,
  { host, port, path, framing, upgrade }: ForwardedHeadOptions,
): Buffer {
  const named = new Set(membersOf(head, "connection"))
  const authority = describeTarget({ host, isWildcard: false, port })
  const kept = head.fields.filter(
    ({ key }) => !DROPPED.has(key) && !named.has(key) && !key.startsWith("proxy-"),
  )
  const hasLength = head.fields.some(({ key }) => key === "content-length")
  const lines = [
    `${head.method} ${path} HTTP/${head.version}`,
    `Host: ${port === 80 ? authority.slice(0, -":80".length) : authority}`,
    ...kept.map(({ name, value }) => `${name}: ${value}`),
    ...(framing.kind === "chunked" ? ["Transfer-Encoding: chunked"] : []),
    ...(framing.kind === "length" && hasLength ? [`Content-Length: ${framing.length}`] : []),
    ...(upgrade === undefined ? ["Connection: close"] : ["Connection: Upgrade", `Upgrade: ${upgrade}`]),
  ]
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1")
}
