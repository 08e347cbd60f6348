import { lookup as dnsLookup } from "node:dns/promises"
import { abortable } from "../internal/abortable.ts"
import { Slots } from "../internal/slots.ts"
import { type Host, describeTarget } from "../policy/index.ts"
import { canonicalAddress } from "./address-class.ts"
import { Refusal } from "./refusal.ts"
import type { RuleBook } from "./rule-book.ts"
import { timeouts } from "./timeouts.ts"

/** Finds the addresses of a name, as text. */
export type EgressLookup = (
  host: string,
  options: { readonly signal: AbortSignal },
) => Promise<readonly string[]>

const MOST_ADDRESSES = 8
// Each takes a thread of the few that this process has for its files too.
const places = new Slots(2)

/** Asks as this machine does. */
export async function lookupHere(
  host: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const giveBack = await places.take(signal)
  // The place stays taken until the thread is free, whoever has left meanwhile.
  const found = dnsLookup(host, { all: true }).finally(giveBack)
  return (await abortable(found, signal)).map(({ address }) => address)
}

export interface ResolveHostOptions {
  readonly host: Host
  readonly port: number
  readonly rule: string
  readonly lookup: EgressLookup
  readonly book: () => RuleBook
  readonly signal: AbortSignal
}

/** The addresses that may be dialled for a host: each has been looked at. Throws Refusal. */
export async function resolveHost(options: ResolveHostOptions): Promise<readonly string[]> {
  const { host, port, rule, book } = options
  const found = host.kind === "address" ? [host.text] : await lookUp(options)
  const addresses = found.flatMap((text) => canonicalAddress(text) ?? [])
  if (addresses.length === 0) throw notFound(host.text, rule, false)
  const allowed = addresses.filter((address) => book().addressFault(host, port, address) === undefined)
  if (allowed.length > 0) return allowed.slice(0, MOST_ADDRESSES)
  const [first = ""] = addresses
  const what = book().addressFault(host, port, first) ?? "not public"
  throw privateAddress(host, port, first, what, rule)
}

async function lookUp({ host, rule, lookup, signal }: ResolveHostOptions): Promise<readonly string[]> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), timeouts.lookup)
  const either = AbortSignal.any([signal, deadline.signal])
  try {
    return await abortable(lookup(host.text, { signal: either }), either)
  } catch {
    signal.throwIfAborted()
    throw notFound(host.text, rule, deadline.signal.aborted)
  } finally {
    clearTimeout(timer)
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
