import { Resolver, lookup as askThread } from "node:dns/promises"
import { platform } from "node:os"
import { abortable } from "../internal/abortable.ts"
import { Slots } from "../internal/slots.ts"
import { watchAbort } from "../internal/watch-abort.ts"
import type { EgressLookup } from "./host-lookups.ts"
import { HostsFile } from "./hosts-file.ts"

const HOSTS =
  platform() === "win32"
    ? `${process.env["SystemRoot"] ?? "C:\\Windows"}\\System32\\drivers\\etc\\hosts`
    : "/etc/hosts"
// Before the next server is asked.
const PATIENCE = 2000

export interface MachineLookupOptions {
  readonly hosts?: string
  /** @default those of this machine */
  readonly servers?: readonly string[]
}

// Each takes a thread, of the two that this process has for all its lookups; one stays for the others.
const thread = new Slots(1)

/**
 * Asks the hosts file and the name servers of this machine. A question to a server takes no thread and can be given
 * up: a client in a sandbox may choose names that nobody answers for, and must not keep others from theirs.
 */
export function machineLookup({ hosts = HOSTS, servers }: MachineLookupOptions = {}): EgressLookup {
  const file = new HostsFile(hosts)
  return async (name, { signal }) => {
    signal.throwIfAborted()
    const own = await abortable(file.find(name), signal)
    if (own) return own
    // Only this machine knows what such a name means. No wildcard stands for one, so clients cannot make them up.
    return name.includes(".") ? askServers(name, servers, signal) : askMachine(name, signal)
  }
}

/** As this process does by default. */
export const lookupHere = machineLookup()

async function askServers(
  name: string,
  servers: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: PATIENCE, tries: 2 })
  if (servers) resolver.setServers(servers)
  const answers = Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const unwatch = watchAbort(signal, () => resolver.cancel())
  const found = await answers.finally(unwatch)
  signal.throwIfAborted()
  return found.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
}

async function askMachine(name: string, signal: AbortSignal): Promise<readonly string[]> {
  const giveBack = await thread.take(signal)
  // The place stays taken until the thread is free, whoever has left meanwhile.
  const found = askThread(name, { all: true }).finally(giveBack)
  return (await abortable(found, signal)).map(({ address }) => address)
}
