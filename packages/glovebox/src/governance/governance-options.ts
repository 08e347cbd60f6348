import { randomUUID } from "node:crypto"
import { z } from "zod"
import type { AccessGuard } from "../core/access-guard.ts"
import { readOptions } from "../core/read-options.ts"
import { ToolAccess, type ToolAccessOptions } from "./access/index.ts"
import type { ApprovalGateOptions } from "./approval/index.ts"
import { AuditLog, type AuditLogOptions, type AuditSink } from "./audit/index.ts"
import type { ContentOptions } from "./effects/index.ts"
import type { MessageFilterOptions } from "./filter/index.ts"
import { Redactor, type RedactorOptions } from "./redaction/index.ts"
import { Telemetry, type TelemetryOptions } from "./telemetry/index.ts"

export interface GovernanceOptions {
  /**
   * Where everything is written down: options of an AuditLog, which is closed with this; a log of one's own; or false
   * for nowhere. @default { path: ".glovebox/audit.jsonl" }
   */
  readonly audit?: Partial<AuditLogOptions> | AuditSink | false | undefined
  /** Whether what cannot be recorded does not happen, or does not count as done. @default true */
  readonly auditRequired?: boolean | undefined
  /** What is recorded beside hashes. @default {}: nothing */
  readonly content?: ContentOptions | undefined
  /** Who is asked, and by which rules; false asks nobody. @default {}: inside deny-all nobody is asked, the rest is denied */
  readonly approval?: ApprovalGateOptions | false | undefined
  /** Takes secrets out of all that leaves. @default {}: known shapes, and the environment's */
  readonly redaction?: RedactorOptions | Redactor | false | undefined
  /** In front of models. @default {}: findings are recorded, and programs' words are marked */
  readonly filter?: MessageFilterOptions | false | undefined
  /** Which agents may use which tools and executors. @default all of them */
  readonly access?: ToolAccessOptions | AccessGuard | undefined
  /** @default OpenTelemetry's global providers, without content */
  readonly telemetry?: TelemetryOptions | Telemetry | false | undefined
  /** The run that records belong to. @default a new id */
  readonly run?: string | undefined
  /** Where records are not required: told what could not be recorded. @default a process warning, once */
  readonly onUnrecorded?: ((error: unknown) => void) | undefined
}

export interface GovernanceSettings {
  readonly sink: AuditSink | undefined
  /** What was made here, and is closed here. */
  readonly ownLog: AuditLog | undefined
  readonly auditRequired: boolean
  readonly content: ContentOptions
  readonly approval: ApprovalGateOptions | undefined
  readonly redactor: Redactor | undefined
  readonly filter: MessageFilterOptions | undefined
  readonly access: AccessGuard | undefined
  readonly telemetry: Telemetry
  readonly run: string
  readonly onUnrecorded: (error: unknown) => void
}

const DEFAULT_PATH = ".glovebox/audit.jsonl"

// What each part reads itself is checked by it.
const part = z.union([z.record(z.string(), z.unknown()), z.custom<object>(isObject)])
const schema = z.strictObject({
  audit: z.union([part, z.literal(false)]).optional(),
  auditRequired: z.boolean().default(true),
  content: z
    .strictObject({
      code: z.boolean().optional(),
      output: z.boolean().optional(),
      arguments: z.boolean().optional(),
      messages: z.boolean().optional(),
    })
    .default({}),
  approval: z.union([part, z.literal(false)]).optional(),
  redaction: z.union([part, z.literal(false)]).optional(),
  filter: z.union([part, z.literal(false)]).optional(),
  access: part.optional(),
  telemetry: z.union([part, z.literal(false)]).optional(),
  run: z.string().min(1).optional(),
  onUnrecorded: z
    .custom<(error: unknown) => void>((value) => typeof value === "function", "must be a function")
    .optional(),
})

export function readGovernanceOptions(given: GovernanceOptions): GovernanceSettings {
  const {
    auditRequired,
    content,
    run = randomUUID(),
    onUnrecorded = warnOnce(),
  } = readOptions("Governance", schema, given)
  const { audit, approval = {}, redaction = {}, filter = {}, access, telemetry } = given
  const redactor = makeRedactor(redaction)
  const ownLog = audit === false || isSink(audit) ? undefined : new AuditLog({ path: DEFAULT_PATH, ...audit })
  return {
    sink: isSink(audit) ? audit : ownLog,
    ownLog,
    auditRequired,
    content,
    approval: approval === false ? undefined : approval,
    redactor,
    filter: filter === false ? undefined : filter,
    access: access === undefined || isGuard(access) ? access : new ToolAccess(access),
    telemetry: makeTelemetry(telemetry, redactor),
    run,
    onUnrecorded,
  }
}

function makeRedactor(redaction: RedactorOptions | Redactor | false): Redactor | undefined {
  if (redaction === false) return undefined
  return redaction instanceof Redactor ? redaction : new Redactor(redaction)
}

function makeTelemetry(given: GovernanceOptions["telemetry"], redactor: Redactor | undefined): Telemetry {
  if (given instanceof Telemetry) return given
  if (given === false) return new Telemetry({ tracerProvider: null, meterProvider: null })
  return new Telemetry({ ...(redactor && { redact: (text: string) => redactor.text(text) }), ...given })
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null
}

function isSink(audit: GovernanceOptions["audit"]): audit is AuditSink {
  return typeof audit === "object" && "append" in audit
}

function isGuard(access: ToolAccessOptions | AccessGuard): access is AccessGuard {
  return "authorize" in access
}

function warnOnce(): (error: unknown) => void {
  let isFirst = true
  return (error) => {
    if (isFirst) process.emitWarning(`The audit log misses records: ${String(error)}`, "GloveboxWarning")
    isFirst = false
  }
}
