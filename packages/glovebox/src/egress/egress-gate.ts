import type { Duplex } from "node:stream"
import type { AllowList } from "../policy/index.ts"
import { CertificateAuthority } from "./certificate-authority.ts"
import type { EgressDenial, EgressEvent, EgressRecords } from "./egress-event.ts"
import { tooMany } from "./connection-refusals.ts"
import { type Asked, EgressLog } from "./egress-log.ts"
import { type GateSecret, GateSecrets } from "./gate-secrets.ts"
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
  /** Values to put in where programs send their placeholders. @default none */
  readonly secrets?: readonly GateSecret[] | undefined
  /** Authorities, as PEM, that servers of intercepted hosts may have beside the known ones. @default none */
  readonly ca?: readonly string[] | undefined
  /** Whether somebody hears that a value is used; where nobody does, none is. @default always */
  readonly canReceipt?: (() => boolean) | undefined
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
  #authority: CertificateAuthority | undefined
  // How many are being decided, or are open: without those that only take their leave.
  #active = 0
  #crowded: EgressDenial | undefined
  #isClosed = false

  constructor({
    network,
    lookup = lookupHere,
    secrets = [],
    ca = [],
    canReceipt = () => true,
    onEvent,
  }: EgressGateOptions) {
    this.#book = new RuleBook(network)
    this.#log = new EgressLog(onEvent)
    this.#context = {
      book: () => this.#book,
      log: this.#log,
      lookups: new HostLookups(lookup),
      secrets: new GateSecrets(secrets),
      authority: () => (this.#authority ??= new CertificateAuthority()),
      ca,
      canReceipt,
    }
    if (network.allow.some((rule) => typeof rule === "object" && rule.intercept)) this.#context.authority()
  }

  /** What programs have to trust for the hosts whose TLS ends here, as PEM; undefined when there are none. */
  get certificate(): string | undefined {
    return this.#authority?.certificate
  }

  /** Takes a connection that a program made; it is the gate's from here on, which always ends it. */
  accept(client: Duplex): void {
    if (this.#isClosed) return drop(client)
    const { connections: most } = this.#book
    // Those over the limit are told so, but there is a limit to that too: these must cost next to nothing.
    if (this.#connections.size >= 2 * most) {
      this.#crowded ??= tooMany(most).toDenial("")
      this.#log.deny(UNKNOWN, this.#crowded, "policy", performance.now())
      return drop(client)
    }
    const connection = new ProxiedConnection(client, this.#context)
    this.#connections.add(connection)
    this.#active += 1
    void connection
      .serve(this.#active > most, () => (this.#active -= 1))
      .finally(() => this.#connections.delete(connection))
  }

  /** Goes on with a narrower list: what it does not allow is closed, and later connections are decided by it. */
  tighten(network: AllowList | "none"): void {
    this.#book = new RuleBook(network, this.#book)
    this.#crowded = undefined
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

const UNKNOWN: Asked = { via: "unknown", host: "", port: 0 }

function drop(client: Duplex): void {
  client.on("error", ignore)
  client.destroy()
}

function ignore(): void {
  // What becomes of it is nobody's concern.
}
