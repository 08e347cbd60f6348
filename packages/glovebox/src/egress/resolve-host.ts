import { type Host, describeTarget } from "../policy/index.ts"
import { canonicalAddress, ownAddresses } from "./address-class.ts"
import { type HostLookups, LateLookup } from "./host-lookups.ts"
import { Refusal } from "./refusal.ts"
import type { RuleBook } from "./rule-book.ts"

const MOST_ADDRESSES = 8
// Of what a name server says, which may be a client's own.
const MOST_LOOKED_AT = 64

export interface ResolveHostOptions {
  readonly host: Host
  readonly port: number
  readonly rule: string
  readonly lookups: HostLookups
  readonly book: () => RuleBook
  readonly signal: AbortSignal
}

/** The addresses that may be dialled for a host: each has been looked at. Throws Refusal. */
export async function resolveHost(options: ResolveHostOptions): Promise<readonly string[]> {
  const { host, port, rule, book } = options
  const found = host.kind === "address" ? [host.text] : await lookUp(options)
  const addresses = found.flatMap((text) => canonicalAddress(text) ?? [])
  const [first] = addresses
  if (first === undefined) throw notFound(host.text, rule, false)
  const own = ownAddresses()
  const allowed: string[] = []
  for (const address of addresses) {
    if (book().addressFault(host, port, address, own) === undefined) allowed.push(address)
    if (allowed.length === MOST_ADDRESSES) break
  }
  if (allowed.length > 0) return allowed
  const what = book().addressFault(host, port, first, own) ?? "not public"
  throw privateAddress(host, port, first, what, rule)
}

async function lookUp({ host, rule, lookups, signal }: ResolveHostOptions): Promise<readonly string[]> {
  try {
    const found = await lookups.find(host.text, signal)
    // A lookup is the caller's, and may give anything.
    if (!Array.isArray(found)) return []
    return found.slice(0, MOST_LOOKED_AT).filter((text): text is string => typeof text === "string")
  } catch (error) {
    signal.throwIfAborted()
    throw notFound(host.text, rule, error instanceof LateLookup)
  }
}

function notFound(name: string, rule: string, isTimeout: boolean): Refusal {
  return new Refusal(
    "NAME_NOT_FOUND",
    isTimeout ? `The address of ${name} was not found in time.` : `No address was found for ${name}.`,
    `Check the spelling of ${name}, or try again later.`,
    { rule, isTimeout },
  )
}

function privateAddress(host: Host, port: number, address: string, what: string, rule: string): Refusal {
  const asked = describeTarget({ host, isWildcard: false, port })
  const read = { kind: "address", text: address, version: address.includes(":") ? 6 : 4 } as const
  const entry = describeTarget({ host: read, isWildcard: false, port })
  return new Refusal(
    "PRIVATE_ADDRESS",
    host.kind === "address" ? `${asked} is at ${what}.` : `${asked} is at ${address}, ${what}.`,
    `Do without it, or ask for "${entry}" to be added to network.allowPrivate.`,
    { rule },
  )
}
