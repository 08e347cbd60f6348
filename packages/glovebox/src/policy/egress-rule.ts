import { type Host, readHost, readWrittenHost } from "./host-name.ts"

/** Who a rule lets code reach. */
export interface EgressTarget {
  /** Without the wildcard, if there is one. */
  readonly host: Host
  /** Whether any one label more, in front, is meant. */
  readonly isWildcard: boolean
  readonly port: number
}

export type TargetReading = { readonly target: EgressTarget } | { readonly fault: string }

const PORT = /^[1-9]\d{0,4}$/
const HIGHEST_PORT = 65_535

/** Reads "host:port", as a client in a sandbox says it; brackets around an IPv6 address. */
export function readAuthority(
  text: string,
): { readonly host: Host; readonly port: number } | { readonly fault: string } {
  const at = text.lastIndexOf(":")
  const port = text.slice(at + 1)
  if (at < 0 || !PORT.test(port) || Number(port) > HIGHEST_PORT)
    return { fault: "has no port from 1 to 65535" }
  const read = readHost(text.slice(0, at))
  return "fault" in read ? read : { host: read.host, port: Number(port) }
}

/** Reads "host:port" or "*.host:port", as a policy has it. */
export function readEgressTarget(text: string): TargetReading {
  const at = text.lastIndexOf(":")
  const port = text.slice(at + 1)
  if (at < 0 || !PORT.test(port)) return { fault: `must be "host:port" or "*.host:port"` }
  if (Number(port) > HIGHEST_PORT) return { fault: "has a port above 65535" }
  const isWildcard = text.startsWith("*.")
  const read = readWrittenHost(text.slice(isWildcard ? 2 : 0, at))
  if ("fault" in read) return { fault: `must be "host:port" or "*.host:port", and this host ${read.fault}` }
  if (isWildcard && (read.host.kind !== "name" || read.host.labels.length < 2))
    return { fault: "must have two labels or more below its wildcard, such as *.example.com" }
  return { target: { host: read.host, isWildcard, port: Number(port) } }
}

/** The one way of writing it. */
export function describeTarget({ host, isWildcard, port }: EgressTarget): string {
  const name = host.kind === "address" && host.version === 6 ? `[${host.text}]` : host.text
  return `${isWildcard ? "*." : ""}${name}:${port}`
}

/** Whether a rule for the target is for this host and port: label by label, never by the end of a text. */
export function isTarget(
  { host: wanted, isWildcard, port: wantedPort }: EgressTarget,
  host: Host,
  port: number,
): boolean {
  if (port !== wantedPort || host.kind !== wanted.kind) return false
  if (host.kind === "address" || wanted.kind === "address") return host.text === wanted.text
  const labels = isWildcard ? host.labels.slice(1) : host.labels
  return labels.length === wanted.labels.length && labels.every((label, at) => label === wanted.labels[at])
}
