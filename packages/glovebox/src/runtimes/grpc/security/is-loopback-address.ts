import { BlockList, isIP } from "node:net"

const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8, "ipv4")
loopback.addAddress("::1", "ipv6")

/** Whether nothing but this machine is reached by an address of gRPC: a socket file, localhost, or an IP of loopback. */
export function isLoopbackAddress(address: string): boolean {
  if (/^unix(?:-abstract)?:/.test(address)) return true
  const named = /^(?:dns|ipv4|ipv6):(?:\/*)(.*)$/.exec(address)?.[1] ?? address
  const parts = named.split(",")
  return parts.every((part) => isLoopbackHost(hostOf(part)))
}

/** The host of `host:port`, `[host]:port` or `host`. */
export function hostOf(address: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(address)?.[1]
  if (bracketed !== undefined) return bracketed
  return isIP(address) === 6 ? address : address.replace(/:\d+$/, "")
}

function isLoopbackHost(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return host === "localhost"
  return loopback.check(host, family === 4 ? "ipv4" : "ipv6")
}
