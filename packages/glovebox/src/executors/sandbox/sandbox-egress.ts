import type { Duplex } from "node:stream"
import {
  type EgressEvent,
  EgressGate,
  type EgressLookup,
  type EgressRecords,
  type GateSecret,
} from "../../egress/index.ts"
import { type AllowList, type PolicyFields, allowListOf, secretVariable } from "../../policy/index.ts"
import { PROXY_VARIABLES } from "./proxy-variables.ts"
import type { KnownSecret } from "../known-secret.ts"
import { type SecretOptions, placeholderVariables, readSecrets } from "./secret-values.ts"
import { AUTHORITY_VARIABLES } from "./trust-authority.ts"

/** How an executor's sandboxes go out, beside what the policy says. */
export interface EgressOptions extends SecretOptions {
  readonly egress?:
    | {
        readonly lookup?: EgressLookup | undefined
        readonly ca?: string | readonly string[] | undefined
      }
    | undefined
}

interface SandboxEgressOptions {
  readonly network: AllowList
  readonly lookup: EgressLookup | undefined
  readonly ca: readonly string[]
  readonly secrets: readonly GateSecret[]
  /** The variables with their placeholders. */
  readonly placeholders: Readonly<Record<string, string>>
  readonly onClose: () => void
}

const MOST_UNTOLD = 1000

/** The way out of one sandbox. */
export class SandboxEgress {
  /** Where programs learn of it: the way itself, placeholders, and whom to trust. */
  readonly variables: Readonly<Record<string, string>>
  /** The authority that its programs have to trust, as PEM, if there is one. */
  readonly certificate: string | undefined
  readonly #gate: EgressGate
  readonly #onClose: () => void
  #listener: ((event: EgressEvent) => void) | undefined
  // While no call hears it: a sandbox that is set up reaches hosts too.
  #untold: EgressEvent[] = []
  #isBetweenCalls = false

  constructor({ placeholders, onClose, ...options }: SandboxEgressOptions) {
    this.#onClose = onClose
    this.#gate = new EgressGate({
      ...options,
      onEvent: (event) => this.#tell(event),
      // What is still on its way when a call has ended would be in no result and in no record.
      canReceipt: () => !this.#isBetweenCalls,
    })
    this.certificate = this.#gate.certificate
    const trust = this.certificate === undefined ? {} : AUTHORITY_VARIABLES
    this.variables = { ...PROXY_VARIABLES, ...trust, ...placeholders }
  }

  /** Takes a connection that a program in the sandbox made. */
  readonly accept = (client: Duplex): void => this.#gate.accept(client)

  /** Who hears of connections from now on: the call that runs. */
  listen(listener: ((event: EgressEvent) => void) | undefined): void {
    this.#listener = listener
    this.#isBetweenCalls = listener === undefined
    if (listener) for (const event of this.#untold.splice(0)) listener(event)
  }

  /** What no result has told yet, for one to tell it: also of a call that had none, because it was cancelled. */
  takeRecords(): EgressRecords {
    this.#isBetweenCalls = true
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

  #tell(event: EgressEvent): void {
    if (this.#listener) this.#listener(event)
    else if (this.#untold.length < MOST_UNTOLD) this.#untold.push(event)
  }
}

/** What all sandboxes of an executor may reach, which can become less while they run. */
export class EgressControl {
  readonly #policy: Pick<PolicyFields, "network" | "secrets">
  readonly #options: EgressOptions
  // The same list for all, which is read once.
  readonly #ca: readonly string[]
  readonly #open = new Set<SandboxEgress>()
  readonly #listeners = new Set<(secret: KnownSecret) => void>()
  #tightened: AllowList | "none" | undefined
  #secrets: readonly GateSecret[] = []

  constructor(policy: Pick<PolicyFields, "network" | "secrets">, options: EgressOptions = {}) {
    this.#policy = policy
    this.#options = options
    this.#ca = [options.egress?.ca ?? []].flat()
  }

  /** Reads the values of the secrets, for sandboxes from now on. @throws SECRET_MISSING */
  prepare(): void {
    this.#secrets = readSecrets(this.#policy.secrets, this.#options, this.#secrets)
    for (const listener of this.#listeners) this.#tell(listener)
  }

  /** Tells of each secret that is known, now and whenever values are read. */
  onSecret(listener: (secret: KnownSecret) => void): Disposable {
    // One of its own, so that a function given twice is removed once.
    const own = (secret: KnownSecret): void => listener(secret)
    this.#listeners.add(own)
    this.#tell(own)
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) }
  }

  /** The way out of a new sandbox; undefined where the policy has none. */
  open(): SandboxEgress | undefined {
    const network = allowListOf(this.#policy.network)
    if (!network) return undefined
    const egress: SandboxEgress = new SandboxEgress({
      network,
      lookup: this.#options.egress?.lookup,
      ca: this.#ca,
      secrets: this.#secrets,
      placeholders: placeholderVariables(this.#policy.secrets, this.#secrets),
      onClose: () => this.#open.delete(egress),
    })
    if (this.#tightened !== undefined) egress.tighten(this.#tightened)
    this.#open.add(egress)
    return egress
  }

  tighten(network: AllowList | "none"): void {
    this.#tightened = network
    for (const egress of this.#open) egress.tighten(network)
  }

  #tell(listener: (secret: KnownSecret) => void): void {
    for (const { name, value, placeholder } of this.#secrets) listener({ name, value, placeholder })
  }
}

/** The variables that a sandbox of this policy has for its way out, by name. */
export function egressVariables(policy: Pick<PolicyFields, "network" | "secrets">): readonly string[] {
  const list = allowListOf(policy.network)
  if (!list) return []
  const isIntercepted = list.allow.some((rule) => typeof rule === "object" && rule.intercept)
  return [
    ...Object.keys(PROXY_VARIABLES),
    ...(isIntercepted ? Object.keys(AUTHORITY_VARIABLES) : []),
    ...Object.entries(policy.secrets ?? {}).map(([name, secret]) => secretVariable(name, secret)),
  ]
}
