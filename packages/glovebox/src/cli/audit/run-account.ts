import type { AuditData, AuditKind, AuditRecord } from "../../governance/audit/index.ts"

/** What all parts of an account have. */
interface Step<Kind extends string> {
  readonly type: Kind
  /** Of its first record. */
  readonly seq: number
  readonly at: string
  readonly agent: string | null
}

export interface ApprovalStep extends Step<"approval"> {
  readonly id: string
  request?: Of<"approval", "request">
  decision?: Of<"approval", "decision">
}

export interface CodeStep extends Step<"code-run"> {
  data: AuditData<"code-run">
  approval?: ApprovalStep
  readonly egress: AuditData<"egress">[]
  readonly secrets: AuditData<"secret-used">[]
}

export interface ToolStep extends Step<"tool-call"> {
  data: AuditData<"tool-call">
  approval?: ApprovalStep
}

/** What stands for itself: refusals, filters, ways out of no known code, and a user's own records. */
interface OtherStep extends Step<"other"> {
  readonly record: Pick<AuditRecord, "kind" | "data">
}

export type AccountStep = ApprovalStep | CodeStep | ToolStep | OtherStep

interface ModelUse {
  readonly provider: string | undefined
  calls: number
  failed: number
  promptTokens: number
  completionTokens: number
}

/** All that a log says of one run. */
export interface RunAccount {
  /** Null for what belongs to none. */
  readonly run: string | null
  /** Whether the first part was told already: it went on long after its end. */
  readonly isContinued: boolean
  records: number
  readonly first: { readonly seq: number; readonly at: string }
  last: { readonly seq: number; readonly at: string }
  readonly agents: string[]
  start?: AuditData<"run-start">
  end?: AuditData<"run-end">
  readonly policies: AuditData<"policy-load">[]
  /** In the order in which they began. */
  readonly steps: AccountStep[]
  readonly sandboxes: AuditData<"sandbox">[]
  readonly models: Record<string, ModelUse>
  /** What was too much to be told. */
  leftOut: number
}

type Of<Kind extends AuditKind, Phase extends string> = Extract<AuditData<Kind>, { readonly phase: Phase }>

export function startAccount({ run, seq, at }: AuditRecord, isContinued: boolean): RunAccount {
  return {
    run,
    isContinued,
    records: 0,
    first: { seq, at },
    last: { seq, at },
    agents: [],
    policies: [],
    steps: [],
    sandboxes: [],
    // No record may name a model that every object has a field for.
    models: Object.create(null) as Record<string, ModelUse>,
    leftOut: 0,
  }
}
