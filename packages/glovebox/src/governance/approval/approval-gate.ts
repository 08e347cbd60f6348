import { abortable } from "../../internal/abortable.ts"
import type { Approve } from "../../tools/approval.ts"
import {
  type AdapterOptions,
  type ApproveCodeBlocks,
  type ApprovePolicy,
  approveCode,
  approvePolicy,
  approveTools,
} from "./approval-adapters.ts"
import { ApprovalDesk, type Refusal } from "./approval-desk.ts"
import { ApprovalError } from "./approval-error.ts"
import { type ApprovalGateOptions, type GateSettings, readGateOptions } from "./approval-gate-options.ts"
import type { ApprovalGrant, GrantGuard } from "./approval-grant.ts"
import type { ApprovalKind } from "./approval-payload.ts"
import {
  type ApprovalProposal,
  type PolicySource,
  type ReadProposal,
  type RequestApprovalOptions,
  currentPolicy,
  readProposal,
} from "./approval-proposal.ts"
import { type ApprovalLane, decideLane } from "./approval-rules.ts"
import { type ApprovalEntry, type ApprovalGateState, ApprovalStore, giveAnswer } from "./approval-store.ts"
import { type GateAnswer, readAnswer } from "./gate-answer.ts"
import type { GateRequest } from "./gate-request.ts"
import { isPending, nameOf, refusalOf } from "./refusal.ts"
import { waitForAnswer } from "./wait-for-answer.ts"

/**
 * Where leave is asked for: to call a tool, to run code, to change a policy. What is approved is bound to its content,
 * used once, and expires; whatever goes wrong is a denial.
 *
 * @example
 * const gate = new ApprovalGate({ provider: terminalApproval() })
 * const grant = await gate.request({ kind: "code", payload: { codeBlocks }, agent: "coder", policy }, { signal })
 * await grant.use({ codeBlocks })
 */
export class ApprovalGate {
  readonly #settings: GateSettings
  readonly #desk: ApprovalDesk
  readonly #store = new ApprovalStore()
  #latest = 0

  constructor(options: ApprovalGateOptions = {}) {
    this.#settings = readGateOptions(options)
    this.#desk = new ApprovalDesk(this.#settings.onDecision, () => this.#now())
  }

  /** What the rules say of a proposal; nobody is asked. */
  laneOf(proposal: ApprovalProposal): ApprovalLane {
    return decideLane(this.#settings.rules, this.#read(proposal).subject).lane
  }

  /**
   * Asks for leave.
   *
   * @throws ApprovalError APPROVAL_DENIED with the reason, or APPROVAL_PENDING when it does not wait; the signal's reason
   *   when that aborts, and then nobody is asked any more
   */
  async request<Kind extends ApprovalKind>(
    proposal: ApprovalProposal<Kind>,
    { signal, suspend = this.#settings.suspend }: RequestApprovalOptions = {},
  ): Promise<ApprovalGrant<Kind>> {
    signal?.throwIfAborted()
    const { request, subject, policy } = this.#read(proposal)
    const { lane, basis } = decideLane(this.#settings.rules, subject)
    const matter = { request, basis, signal }
    if (lane === "deny") throw await this.#desk.denial(matter, { reason: `${nameOf(basis)} denies it.` })
    if (lane === "allow") {
      // Nobody else ever hears of it, so there is nothing to keep.
      let isUsed = false
      const claim = (): Promise<boolean> => {
        const isFirst = !isUsed
        isUsed = true
        return Promise.resolve(isFirst)
      }
      return this.#desk.grant(matter, { decision: "approve" }, this.#guard(request, policy, claim))
    }
    for (const late of this.#store.prune(this.#now())) this.#withdraw(late)
    const known = this.#store.find(request)
    const entry = known ?? this.#store.add(request)
    // Whoever answers is bound by the rules as well.
    const decide = (payload: unknown): Decided =>
      decideLane(this.#settings.rules, this.#read({ ...proposal, payload }).subject)
    return this.#ask(entry, policy, { signal, suspend, isNew: known === undefined, decide })
  }

  /** What waits for an answer. */
  pending(): readonly GateRequest[] {
    const now = this.#now()
    const open = this.#store.entries.filter(({ request, answer }) => !answer && request.expires > now)
    return open.map(({ request }) => request)
  }

  /**
   * Answers a request of this gate, beside its provider; the first answer counts.
   *
   * @throws ApprovalError APPROVAL_UNKNOWN, APPROVAL_EXPIRED, APPROVAL_ANSWERED or APPROVAL_USED
   */
  answer(id: string, answer: GateAnswer): void {
    if (this.#store.isUsed(id))
      throw new ApprovalError("APPROVAL_USED", id, `Request ${id} was used already.`)
    const entry = this.#store.get(id)
    if (!entry) throw new ApprovalError("APPROVAL_UNKNOWN", id, `No request ${id} waits here.`)
    if (entry.request.expires <= this.#now()) {
      throw new ApprovalError("APPROVAL_EXPIRED", id, `Request ${id} has expired.`)
    }
    if (!giveAnswer(entry, readAnswer(entry.request, answer))) {
      throw new ApprovalError("APPROVAL_ANSWERED", id, `Request ${id} was answered already.`)
    }
  }

  /** Plain data by which another gate, in another process, goes on. Answers that have come meanwhile are in it. */
  async saveState({
    signal,
  }: { readonly signal?: AbortSignal | undefined } = {}): Promise<ApprovalGateState> {
    this.#store.prune(this.#now())
    for (const entry of this.#store.entries) {
      signal?.throwIfAborted()
      if (!entry.answer) await abortable(this.#collect(entry), signal)
    }
    return structuredClone(this.#store.save())
  }

  /**
   * Adds what another gate saved; what was used stays used.
   *
   * @throws GloveboxError STATE_INVALID, and nothing is added
   */
  loadState(state: unknown): void {
    this.#store.load(state)
  }

  /** For whatever calls tools: `approve` of AssistantAgent, of a workbench, of runTool. */
  forTools(options: AdapterOptions & { readonly agent: string }): Approve {
    return approveTools((proposal, asking) => this.request(proposal, asking), options)
  }

  /** For `approve` of CodeExecutorAgent. */
  forCode(options: AdapterOptions = {}): ApproveCodeBlocks {
    return approveCode((proposal, asking) => this.request(proposal, asking), options)
  }

  /** For whatever changes a policy: gives the policy that was approved, perhaps an edited one. */
  forPolicy(options: AdapterOptions & { readonly agent: string }): ApprovePolicy {
    return approvePolicy((proposal, asking) => this.request(proposal, asking), options)
  }

  async #ask<Kind extends ApprovalKind>(
    entry: ApprovalEntry,
    policy: PolicySource | undefined,
    { signal, suspend, isNew, decide }: AskingOptions,
  ): Promise<ApprovalGrant<Kind>> {
    const { request } = entry
    const { provider } = this.#settings
    const matter = { request, signal, basis: { by: "provider", provider: provider?.name ?? "none" } } as const
    entry.isHeld = true
    let outcome: GateAnswer | Refusal
    try {
      if (isNew) await abortable(this.#tell(request), signal)
      const remainingMs = request.expires - this.#now()
      outcome = entry.answer ?? (await waitForAnswer(entry, provider, { signal, remainingMs, suspend }))
      if (this.#now() >= request.expires) {
        throw new ApprovalError("APPROVAL_EXPIRED", request.id, "The answer came too late.")
      }
      if (outcome.decision === "edit") {
        const { lane, basis } = decide(outcome.payload)
        if (lane === "deny") {
          outcome = { by: outcome.by, reason: `${nameOf(basis)} denies what it was changed to.` }
        }
      }
    } catch (error) {
      if (isPending(error, request)) {
        entry.isHeld = false
        throw error
      }
      outcome = refusalOf(error)
    }
    try {
      signal?.throwIfAborted()
      if ("decision" in outcome && outcome.decision !== "deny") {
        const guard = this.#guard(request, policy, () => this.#claim(request))
        return await this.#desk.grant(matter, outcome, guard)
      }
      throw await this.#desk.denial(matter, { ...outcome, reason: outcome.reason ?? "No reason was given." })
    } catch (error) {
      this.#store.remove(request.id)
      this.#withdraw(request)
      if (signal?.aborted) this.#desk.withdrawn(matter)
      signal?.throwIfAborted()
      throw error
    }
  }

  async #tell(request: GateRequest): Promise<void> {
    await this.#settings.onRequest(request)
  }

  #guard(
    request: GateRequest,
    policy: PolicySource | undefined,
    claim: GrantGuard["claim"],
  ): Omit<GrantGuard, "now"> {
    return {
      // A change of policy begins with the one that it names, where nobody says which is in force.
      policySha256: () => (policy === undefined ? request.policySha256 : currentPolicy(policy)?.sha256),
      claim,
    }
  }

  // Here in one step, and then among all processes that may have the same state.
  async #claim(request: GateRequest): Promise<boolean> {
    if (!this.#store.use(request.id, request.expires)) return false
    return (await this.#settings.provider?.claim?.(request)) ?? true
  }

  #read(proposal: unknown): ReadProposal {
    const { expiresInMs, languageName } = this.#settings
    return readProposal(proposal, { now: this.#now(), expiresInMs, languageName })
  }

  // A provider that cannot be looked at has no answer to save.
  async #collect(entry: ApprovalEntry): Promise<void> {
    try {
      const said = await this.#settings.provider?.peek?.(entry.request)
      if (said !== undefined) giveAnswer(entry, readAnswer(entry.request, said))
    } catch {}
  }

  // Not waited for: it only tidies up.
  #withdraw(request: GateRequest): void {
    const { provider } = this.#settings
    Promise.resolve()
      .then(() => provider?.withdraw?.(request))
      .catch(() => {})
  }

  // A clock that is set back must not bring to life what has expired.
  #now(): number {
    this.#latest = Math.max(this.#latest, this.#settings.clock())
    return this.#latest
  }
}

type Decided = ReturnType<typeof decideLane>

interface AskingOptions {
  readonly signal: AbortSignal | undefined
  readonly suspend: boolean
  /** Whether nobody has heard of it yet. */
  readonly isNew: boolean
  /** What the rules say of it with another payload. */
  readonly decide: (payload: unknown) => Decided
}
