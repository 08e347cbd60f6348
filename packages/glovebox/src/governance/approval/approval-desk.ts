import { abortable } from "../../internal/abortable.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { ApprovalError } from "./approval-error.ts"
import { ApprovalGrant, type GrantGuard } from "./approval-grant.ts"
import { type ApprovalKind, type ApprovalPayloads, hashPayload } from "./approval-payload.ts"
import type { ApprovalRecord, OnDecision } from "./approval-record.ts"
import type { DecisionBasis } from "./approval-rules.ts"
import type { GateAnswer } from "./gate-answer.ts"
import type { GateRequest } from "./gate-request.ts"

/** What is to be decided, and on what ground. */
export interface Matter {
  readonly request: GateRequest
  readonly basis: DecisionBasis
  readonly signal: AbortSignal | undefined
}

export interface Refusal {
  readonly reason: string
  readonly by?: string | undefined
  readonly cause?: unknown
}

/** Writes decisions down before they have an effect. */
export class ApprovalDesk {
  readonly #onDecision: OnDecision
  readonly #now: () => number

  constructor(onDecision: OnDecision, now: () => number) {
    this.#onDecision = onDecision
    this.#now = now
  }

  /** The grant, once it is written down; rejects with a denial when it cannot be. */
  async grant<Kind extends ApprovalKind>(
    { request, basis, signal }: Matter,
    answer: GateAnswer,
    guard: Omit<GrantGuard, "now">,
  ): Promise<ApprovalGrant<Kind>> {
    const isEdited = answer.decision === "edit"
    // Of the kind of the request, which is that of the proposal; an edited one was read by that kind.
    const payload = (isEdited ? answer.payload : request.payload) as ApprovalPayloads[Kind]
    const { by, reason } = answer
    const record = {
      decision: isEdited ? "edited" : "approved",
      sha256: hashPayload(payload),
      by,
      reason,
    } as const
    try {
      await this.#write({ request, basis, ...record, edited: isEdited ? payload : undefined }, signal)
    } catch (error) {
      signal?.throwIfAborted()
      throw denied(request, {
        reason: `The approval could not be recorded: ${errorMessage(error)}`,
        cause: error,
      })
    }
    signal?.throwIfAborted()
    return new ApprovalGrant({ request, payload, isEdited, basis, by }, { ...guard, now: this.#now })
  }

  /** The error for a denial, written down; a denial that cannot be is one all the same. */
  async denial({ request, basis, signal }: Matter, refusal: Refusal): Promise<ApprovalError> {
    let { cause } = refusal
    const { reason, by } = refusal
    try {
      await this.#write({ request, decision: "denied", basis, by, reason }, signal)
    } catch (error) {
      cause ??= error
    }
    // What was used is told from what was denied: asking again makes sense only for the one.
    if (cause instanceof ApprovalError && cause.code === "APPROVAL_USED") return cause
    return denied(request, { ...refusal, cause })
  }

  /** Not waited for: whoever aborts must not hang in a log. */
  withdrawn({ request, basis }: Omit<Matter, "signal">): void {
    this.#write({ request, decision: "withdrawn", basis }, undefined).catch(() => {})
  }

  async #write(
    record: Pick<ApprovalRecord, "request" | "decision" | "basis"> & Partial<ApprovalRecord>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { sha256, edited, by, reason } = record
    const complete = Object.freeze({ ...record, sha256, edited, by, reason, decided: this.#now() })
    const written = Promise.resolve().then(() => this.#onDecision(complete))
    await abortable(written, signal)
  }
}

function denied({ id, kind }: GateRequest, { reason, cause }: Refusal): ApprovalError {
  return new ApprovalError("APPROVAL_DENIED", id, `The ${kind} was not approved: ${reason}`, {
    reason,
    cause,
  })
}
