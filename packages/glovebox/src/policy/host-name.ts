import { isIPv4, isIPv6 } from "node:net"
import { domainToASCII } from "node:url"

/** A host in the one form in which it is compared. */
export type Host =
  | { readonly kind: "name"; readonly text: string; readonly labels: readonly string[] }
  | { readonly kind: "address"; readonly text: string; readonly version: 4 | 6 }

/** A host, or what is wrong with it. */
export type HostReading = { readonly host: Host } | { readonly fault: string }

const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/
// A resolver takes such a last label for a part of an address, in decimal, octal or hexadecimal.
const NUMERIC = /^(?:\d+|0x[0-9a-f]*)$/
const LONGEST_NAME = 253
const LONGEST_LABEL = 63

/**
 * Reads a host strictly: a name of RFC 1123 in ASCII, a dotted IPv4 address, or an IPv6 address in brackets. What two
 * parsers could read in two ways is a fault.
 */
export function readHost(text: string): HostReading {
  if (text === "") return { fault: "is empty" }
  if (/[^\x21-\x7e]/.test(text)) return { fault: "has a character that no host name has" }
  if (text.startsWith("[")) return readBracketed(text)
  if (isIPv4(text)) return { host: { kind: "address", text, version: 4 } }
  return readName(text.toLowerCase())
}

/** The same for a text that a person wrote: letters beyond ASCII become their IDNA form. */
export function readWrittenHost(text: string): HostReading {
  if (/^\p{ASCII}*$/u.test(text)) return readHost(text)
  const ascii = domainToASCII(text)
  if (ascii === "") return { fault: "is not a name that IDNA knows" }
  // Digits of other scripts become ours.
  return isIPv4(ascii) ? { fault: "is an address in other digits" } : readHost(ascii)
}

function readBracketed(text: string): HostReading {
  const inner = text.slice(1, -1)
  if (!text.endsWith("]") || !isIPv6(inner) || inner.includes("%"))
    return { fault: "is not an IPv6 address in brackets" }
  const canonical = new URL(`http://[${inner}]/`).hostname.slice(1, -1)
  if (canonical.startsWith("::ffff:"))
    return { fault: "is an IPv4 address in the form of IPv6; write it as IPv4" }
  return { host: { kind: "address", text: canonical, version: 6 } }
}

function readName(text: string): HostReading {
  if (text.endsWith(".")) return { fault: "ends with a dot" }
  if (text.length > LONGEST_NAME) return { fault: "is longer than a name may be" }
  const labels = text.split(".")
  for (const label of labels) {
    if (label.length > LONGEST_LABEL || !LABEL.test(label))
      return { fault: `has the part ${JSON.stringify(label)}, which no host name has` }
  }
  if (NUMERIC.test(labels.at(-1)!))
    return { fault: "looks like an address, but is not a dotted IPv4 address" }
  if (labels.some((label) => label.startsWith("xn--")) && domainToASCII(text) !== text)
    return { fault: "has a part in IDNA's form that stands for no name" }
  return { host: { kind: "name", text, labels } }
}
