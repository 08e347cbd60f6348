export type { AdapterOptions, ApproveCodeBlocks, ApprovePolicy, CodeToApprove } from "./approval-adapters.ts"
export { ApprovalError, type ApprovalErrorCode } from "./approval-error.ts"
export { ApprovalGate } from "./approval-gate.ts"
export type { ApprovalGateOptions } from "./approval-gate-options.ts"
export type { ApprovalGrant } from "./approval-grant.ts"
export type {
  ApprovalKind,
  ApprovalPayload,
  ApprovalPayloads,
  CodePayload,
  PolicyPayload,
  ToolPayload,
} from "./approval-payload.ts"
export type { ApprovalProposal, PolicySource, RequestApprovalOptions } from "./approval-proposal.ts"
export type { AnswerRequest, ApprovalProvider, AskOptions } from "./approval-provider.ts"
export type { ApprovalRecord, OnDecision, OnRequest } from "./approval-record.ts"
export type { ApprovalLane, ApprovalRule, ApprovalRuleWhen, DecisionBasis } from "./approval-rules.ts"
export type { ApprovalGateState } from "./approval-store.ts"
export type { GateAnswer } from "./gate-answer.ts"
export type { ApprovalRisk, GateRequest } from "./gate-request.ts"
export { type ListApprovalsOptions, answerApproval, listApprovals } from "./file-queue/answer-approval.ts"
export { FileApprovalQueue, type FileApprovalQueueOptions } from "./file-queue/file-approval-queue.ts"
export { HttpApprovalQueue, type HttpApprovalQueueOptions } from "./http-queue/http-approval-queue.ts"
export type { ApprovalTerminal } from "./terminal/approval-terminal.ts"
export { type TerminalApprovalOptions, terminalApproval } from "./terminal/terminal-approval.ts"
