import { GloveboxError } from "../../core/index.ts"
import { ApprovalError } from "../../governance/approval/approval-error.ts"

/** Work that waits for approvals, perhaps for several: it is kept, and goes on when it is asked for again. */
export class SuspendedError extends ApprovalError {
  /** The ids of the requests. */
  readonly pending: readonly string[]

  constructor(who: string, pending: readonly string[], options?: ErrorOptions) {
    super("APPROVAL_PENDING", pending[0] ?? "", waitsFor(who, pending), options)
    this.pending = [...pending]
  }
}

/** The requests that an error says its work waits for; undefined for any other error. */
export function pendingOf(error: unknown): readonly string[] | undefined {
  if (!GloveboxError.is(error, "APPROVAL_PENDING")) return undefined
  // By their fields: they may be of another copy of the package.
  const { pending, requestId } = error as Partial<Pick<SuspendedError, "pending" | "requestId">>
  if (Array.isArray(pending)) return pending.filter((id): id is string => typeof id === "string")
  return typeof requestId === "string" ? [requestId] : []
}

export function waitsFor(who: string, pending: readonly string[]): string {
  const what = pending.length > 1 ? "approvals" : "approval"
  return `${who} waits for ${[what, pending.join(", ")].filter(Boolean).join(" ")}.`
}
