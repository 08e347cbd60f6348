import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { ApprovalError, usedAlready } from "./approval-error.ts"
import { type ApprovalKind, type ApprovalPayloads, hashPayload, readPayload } from "./approval-payload.ts"
import type { DecisionBasis } from "./approval-rules.ts"
import type { GateRequest } from "./gate-request.ts"

/** What a grant needs of its gate. */
export interface GrantGuard {
  readonly now: () => number
  /** The hash of the policy in force. */
  readonly policySha256: () => string | undefined
  /** True for exactly one caller; in this process it is decided before anything is awaited. */
  readonly claim: () => Promise<boolean>
}

export interface ApprovalGrantFields<Kind extends ApprovalKind> {
  readonly request: GateRequest
  readonly payload: ApprovalPayloads[Kind]
  readonly isEdited: boolean
  readonly basis: DecisionBasis
  readonly by: string | undefined
}

/** Leave to do one thing once. Call `use` right before it is done, with what is done. */
export class ApprovalGrant<Kind extends ApprovalKind = ApprovalKind> {
  readonly request: GateRequest
  /** What may run: that of the request, or what it was changed to. */
  readonly payload: ApprovalPayloads[Kind]
  /** Of that payload. */
  readonly sha256: string
  readonly isEdited: boolean
  readonly basis: DecisionBasis
  /** Who approved, where a provider says so. */
  readonly by: string | undefined
  readonly #guard: GrantGuard

  constructor({ request, payload, isEdited, basis, by }: ApprovalGrantFields<Kind>, guard: GrantGuard) {
    this.request = request
    this.payload = payload
    this.sha256 = hashPayload(payload)
    this.isEdited = isEdited
    this.basis = basis
    this.by = by
    this.#guard = guard
    Object.freeze(this)
  }

  get id(): string {
    return this.request.id
  }

  /**
   * Takes the leave, once, for exactly what was approved. When it is aborted meanwhile, it counts as used.
   *
   * @throws ApprovalError APPROVAL_MISMATCH, APPROVAL_EXPIRED, APPROVAL_USED, or APPROVAL_DENIED when it cannot be
   *   marked as used
   */
  async use(
    payload: ApprovalPayloads[Kind],
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    const { request } = this
    signal?.throwIfAborted()
    if (this.#hashOf(payload) !== this.sha256) {
      throw this.#refusal(
        "APPROVAL_MISMATCH",
        `What was approved is ${request.kind} ${this.sha256}, and this is another.`,
      )
    }
    if (this.#policyNow() !== request.policySha256) {
      throw this.#refusal(
        "APPROVAL_MISMATCH",
        "The policy is not the one that it was approved under. Ask again.",
      )
    }
    if (this.#guard.now() >= request.expires) {
      throw this.#refusal("APPROVAL_EXPIRED", "The approval has expired. Ask again.")
    }
    let isFirst: boolean
    try {
      isFirst = await abortable(this.#guard.claim(), signal)
    } catch (error) {
      signal?.throwIfAborted()
      const why = `The approval could not be marked as used, so it is not: ${errorMessage(error)}`
      throw this.#refusal("APPROVAL_DENIED", why, error)
    }
    if (!isFirst) throw usedAlready(this.id)
  }

  #hashOf(payload: unknown): string | undefined {
    try {
      return hashPayload(readPayload(this.request.kind, payload))
    } catch (error) {
      if (GloveboxError.is(error)) return undefined
      throw error
    }
  }

  #policyNow(): string | undefined {
    try {
      return this.#guard.policySha256()
    } catch (error) {
      throw this.#refusal("APPROVAL_MISMATCH", `The policy cannot be read: ${errorMessage(error)}`, error)
    }
  }

  #refusal(code: ApprovalError["code"] & `APPROVAL_${string}`, why: string, cause?: unknown): ApprovalError {
    return new ApprovalError(code, this.id, why, { cause })
  }
}
