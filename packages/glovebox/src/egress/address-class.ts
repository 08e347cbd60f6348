import { BlockList, isIPv4 } from "node:net"
import { networkInterfaces } from "node:os"
import { readHost } from "../policy/index.ts"

// The registries of special-purpose addresses, and what clouds use beside them.
const SPECIAL_4: readonly (readonly [network: string, prefix: number, what: string])[] = [
  ["0.0.0.0", 8, "an address of this machine"],
  ["10.0.0.0", 8, "a private address"],
  ["100.64.0.0", 10, "a shared address behind a provider's NAT"],
  ["127.0.0.0", 8, "a loopback address"],
  ["168.63.129.16", 32, "the address of a cloud's own services"],
  ["169.254.0.0", 16, "a link-local address"],
  ["172.16.0.0", 12, "a private address"],
  ["192.0.0.0", 24, "a reserved address"],
  ["192.0.2.0", 24, "an address for documentation"],
  ["192.88.99.0", 24, "a relay between IPv6 and IPv4"],
  ["192.168.0.0", 16, "a private address"],
  ["198.18.0.0", 15, "an address for benchmarks"],
  ["198.51.100.0", 24, "an address for documentation"],
  ["203.0.113.0", 24, "an address for documentation"],
  ["224.0.0.0", 4, "a multicast address"],
  ["240.0.0.0", 4, "a reserved address"],
]

const SPECIAL_6: readonly (readonly [network: string, prefix: number, what: string])[] = [
  ["::1", 128, "a loopback address"],
  ["::", 128, "an address of this machine"],
  ["64:ff9b::", 96, "an IPv4 address in the form of IPv6"],
  ["64:ff9b:1::", 48, "an IPv4 address in the form of IPv6"],
  ["fc00::", 7, "a private address"],
  ["fe80::", 10, "a link-local address"],
  ["ff00::", 8, "a multicast address"],
  // Teredo, which has an IPv4 address inside, is one of these.
  ["2001::", 23, "a reserved address"],
  ["2001:db8::", 32, "an address for documentation"],
  ["2002::", 16, "an IPv4 address in the form of IPv6"],
  ["3fff::", 20, "an address for documentation"],
]

const CLASSES = [
  ...SPECIAL_4.map(([network, prefix, what]) => ({ what, list: listOf(network, prefix, "ipv4") })),
  ...SPECIAL_6.map(([network, prefix, what]) => ({ what, list: listOf(network, prefix, "ipv6") })),
]
const GLOBAL_6 = listOf("2000::", 3, "ipv6")

/** An address in the one form in which it is compared; undefined when it is none that may be dialled. */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text
  const read = readHost(`[${text}]`)
  return "host" in read ? read.host.text : undefined
}

/** What a canonical address is that is not a public one; undefined for a public one. */
export function specialAddress(
  address: string,
  own: ReadonlySet<string> = ownAddresses(),
): string | undefined {
  const family = isIPv4(address) ? "ipv4" : "ipv6"
  const special = CLASSES.find(({ list }) => list.check(address, family))
  if (special) return special.what
  if (family === "ipv6" && !GLOBAL_6.check(address, "ipv6")) return "a reserved address"
  return own.has(address) ? "an address of this machine" : undefined
}

/** The addresses of this machine, in their canonical form, as they are now. */
export function ownAddresses(interfaces = networkInterfaces()): ReadonlySet<string> {
  const own = Object.values(interfaces).flatMap((list) => list ?? [])
  return new Set(own.flatMap((one) => canonicalAddress(one.address) ?? []))
}

function listOf(network: string, prefix: number, family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList()
  list.addSubnet(network, prefix, family)
  return list
}
