import type { Duplex } from "node:stream"
import { type EgressEvent, EgressGate, type EgressLookup, type EgressRecords } from "../../egress/index.ts"
import { type AllowList, type NetworkFields, allowListOf } from "../../policy/index.ts"

/** The way out of one sandbox. */
export class SandboxEgress {
  readonly #gate: EgressGate
  readonly #onClose: () => void
  #listener: ((event: EgressEvent) => void) | undefined

  constructor(network: AllowList, lookup: EgressLookup | undefined, onClose: () => void) {
    this.#onClose = onClose
    this.#gate = new EgressGate({ network, lookup, onEvent: (event) => this.#listener?.(event) })
  }

  /** Takes a connection that a program in the sandbox made. */
  readonly accept = (client: Duplex): void => this.#gate.accept(client)

  /** Who hears of connections from now on: the call that runs. */
  listen(listener: ((event: EgressEvent) => void) | undefined): void {
    this.#listener = listener
  }

  /** What no result has told yet, for one to tell it: also of a call that had none, because it was cancelled. */
  takeRecords(): EgressRecords {
    const records = this.#gate.records()
    this.#gate.forget()
    return records
  }

  tighten(network: AllowList | "none"): void {
    this.#gate.tighten(network)
  }

  close(): void {
    this.#gate.close()
    this.#onClose()
  }
}

/** What all sandboxes of an executor may reach, which can become less while they run. */
export class EgressControl {
  readonly #first: AllowList | undefined
  readonly #lookup: EgressLookup | undefined
  readonly #open = new Set<SandboxEgress>()
  #tightened: AllowList | "none" | undefined

  constructor(network: NetworkFields, lookup?: EgressLookup) {
    this.#first = allowListOf(network)
    this.#lookup = lookup
  }

  /** The way out of a new sandbox; undefined where the policy has none. */
  open(): SandboxEgress | undefined {
    if (!this.#first) return undefined
    const egress: SandboxEgress = new SandboxEgress(this.#first, this.#lookup, () =>
      this.#open.delete(egress),
    )
    if (this.#tightened !== undefined) egress.tighten(this.#tightened)
    this.#open.add(egress)
    return egress
  }

  tighten(network: AllowList | "none"): void {
    this.#tightened = network
    for (const egress of this.#open) egress.tighten(network)
  }
}
