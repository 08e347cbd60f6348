import { type ErrorCode, GloveboxError } from "../../core/index.ts"

export type ApprovalErrorCode = Extract<ErrorCode, `APPROVAL_${string}`>

export interface ApprovalErrorOptions extends ErrorOptions {
  readonly reason?: string | undefined
}

/** Something is not approved, or not yet; it carries the request, so that a team can save its state and come back. */
export class ApprovalError extends GloveboxError {
  /** Of the request that it is about. */
  readonly requestId: string
  /** Why it was denied, in the words of whoever did. */
  readonly reason: string | undefined

  constructor(
    code: ApprovalErrorCode,
    requestId: string,
    message: string,
    { reason, ...options }: ApprovalErrorOptions = {},
  ) {
    super(code, message, options)
    this.requestId = requestId
    this.reason = reason
  }
}

/** Whoever hears it may be the second to go on from one state, or may go on after a crash. */
export function usedAlready(requestId: string): ApprovalError {
  return new ApprovalError(
    "APPROVAL_USED",
    requestId,
    `Request ${requestId} was used already, perhaps for this very thing: whether it was done is not known here.`,
  )
}
