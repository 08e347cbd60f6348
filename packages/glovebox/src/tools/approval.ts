/** How much harm a call can do. */
export type ToolRisk = "low" | "medium" | "high"

/** A call that waits for somebody's word. */
export interface ApprovalRequest {
  readonly tool: string
  readonly risk: ToolRisk
  /** As the tool will get them. */
  readonly arguments: unknown
  /** Of the tool's name and the arguments: what is approved is this and nothing else. */
  readonly sha256: string
  readonly callId: string | undefined
  /** False where the tool wants no approval, and rules do. @default true */
  readonly asks?: boolean | undefined
  readonly signal: AbortSignal
}

export type ApprovalDecision =
  /** With arguments, it is those that are approved; they are checked again. */
  | { readonly approved: true; readonly arguments?: unknown }
  | { readonly approved: false; readonly reason?: string | undefined }

export type Approve = (request: ApprovalRequest) => ApprovalDecision | Promise<ApprovalDecision>
