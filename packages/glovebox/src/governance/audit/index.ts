export type { AuditBreak, AuditBreakKind } from "./audit-break.ts"
export { auditFiles } from "./audit-files.ts"
export type { AuditPosition } from "./audit-head.ts"
export { type AppendOptions, AuditLog } from "./audit-log.ts"
export type { AuditLogOptions } from "./audit-log-options.ts"
export type { AuditReceipt } from "./chain-draft.ts"
export {
  type CodeRunContent,
  codeRunDone,
  codeRunFailed,
  codeRunIntent,
  egressData,
  sha256Of,
} from "./code-run-data.ts"
export { AUDIT_EXPORT_FORMATS, type AuditExportFormat, exportAuditLog } from "./export-audit-log.ts"
export { formatAuditRecord } from "./format-audit-record.ts"
export { type ReadAuditLogOptions, readAuditLog } from "./read-audit-log.ts"
export { AUDIT_DATA, AUDIT_KINDS, type AuditData, type AuditEntry, type AuditKind } from "./record-kinds.ts"
export type { AuditRecord } from "./record-line.ts"
export { type AuditSink, type AuditedEffect, type RunAuditedOptions, runAudited } from "./run-audited.ts"
export type { AuditKey } from "./signature.ts"
export {
  type AuditVerification,
  type ExpectedHead,
  type VerifyAuditLogOptions,
  verifyAuditLog,
} from "./verify-audit-log.ts"
