import type { AccessGuard } from "../../core/access-guard.ts"
import type { ApprovalGate } from "../approval/approval-gate.ts"
import type { Redactor } from "../redaction/redactor.ts"
import type { Telemetry } from "../telemetry/index.ts"
import type { EffectLog } from "./effect-log.ts"
import type { ModelFilter } from "./model-filter.ts"

/** What is recorded beside hashes. */
export interface ContentOptions {
  /** The code that ran. @default false */
  readonly code?: boolean | undefined
  /** What code printed. @default false */
  readonly output?: boolean | undefined
  /** Arguments of tools, and what approvals are about. @default false */
  readonly arguments?: boolean | undefined
  /** What models are told, and what they say. @default false */
  readonly messages?: boolean | undefined
}

/** What the effects of one agent go through. */
export interface Controls {
  readonly agent: string
  readonly run: string
  readonly log: EffectLog
  readonly telemetry: Telemetry
  readonly content: ContentOptions
  readonly access: AccessGuard | undefined
  readonly gate: ApprovalGate | undefined
  readonly redactor: Redactor | undefined
  readonly filter: ModelFilter | undefined
}
