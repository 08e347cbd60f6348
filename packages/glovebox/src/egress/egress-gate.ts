import type { Duplex } from "node:stream"
import type { AllowList } from "../policy/index.ts"
import type { EgressEvent, EgressRecords } from "./egress-event.ts"
import { tooMany } from "./connection-refusals.ts"
import { EgressLog } from "./egress-log.ts"
import { type EgressLookup, HostLookups } from "./host-lookups.ts"
import { lookupHere } from "./machine-lookup.ts"
import { type GateContext, ProxiedConnection } from "./proxied-connection.ts"
import { RuleBook } from "./rule-book.ts"

export interface EgressGateOptions {
  readonly network: AllowList
  /**
   * Finds the addresses of an allowed name.
   * @default as this machine does: its hosts file, then its name servers, asked for the name as it is
   */
  readonly lookup?: EgressLookup | undefined
  /** Told of each decision and each end, at once; must not throw. */
  readonly onEvent: (event: EgressEvent) => void
}

/**
 * The way out of one sandbox: takes the connections of its programs, decides on each by the allow-list, makes it, and
 * passes its bytes. Speaks HTTP proxy and SOCKS5. Programs are taken to be hostile.
 */
export class EgressGate implements Disposable {
  readonly #log: EgressLog
  readonly #context: GateContext
  readonly #connections = new Set<ProxiedConnection>()
  #book: RuleBook
  #isClosed = false

  constructor({ network, lookup = lookupHere, onEvent }: EgressGateOptions) {
    this.#book = new RuleBook(network)
    this.#log = new EgressLog(onEvent)
    this.#context = { book: () => this.#book, log: this.#log, lookups: new HostLookups(lookup) }
  }

  /** Takes a connection that a program made; it is the gate's from here on, which always ends it. */
  accept(client: Duplex): void {
    const connection = new ProxiedConnection(client, this.#context)
    const { connections: most } = this.#book
    if (this.#isClosed) connection.end("closed")
    // Those over the limit are told so, but there is a limit to that too.
    else if (this.#connections.size >= 2 * most) connection.end("policy", tooMany(most))
    else this.#connections.add(connection)
    const active = [...this.#connections].filter(({ isActive }) => isActive).length
    void connection.serve(active > most).finally(() => this.#connections.delete(connection))
  }

  /** Goes on with a narrower list: what it does not allow is closed, and later connections are decided by it. */
  tighten(network: AllowList | "none"): void {
    this.#book = new RuleBook(network, this.#book)
    for (const connection of this.#connections) connection.recheck()
  }

  /** All connections so far, the first thousand of them; open ones with their bytes so far. */
  records(): EgressRecords {
    return this.#log.records()
  }

  /** Forgets the connections that have ended. */
  forget(): void {
    this.#log.forget()
  }

  /** Ends all connections, and takes no more. */
  close(): void {
    this.#isClosed = true
    for (const connection of this.#connections) connection.end("closed")
  }

  [Symbol.dispose](): void {
    this.close()
  }
}
