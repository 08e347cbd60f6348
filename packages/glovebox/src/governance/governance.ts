import type { AccessGuard } from "../core/access-guard.ts"
import type { CodeExecutor } from "../executors/index.ts"
import { languageTable } from "../executors/languages.ts"
import { ApprovalGate, type ApprovalGateOptions } from "./approval/index.ts"
import type { AuditEntry, AuditLog } from "./audit/index.ts"
import { ApprovalAudit } from "./effects/approval-audit.ts"
import { AuditedAccess } from "./effects/audited-access.ts"
import { EffectLog } from "./effects/effect-log.ts"
import { Governor } from "./effects/index.ts"
import { ModelFilter } from "./effects/model-filter.ts"
import { SandboxRecorder } from "./effects/sandbox-recorder.ts"
import type { MessageFilter } from "./filter/index.ts"
import {
  type GovernanceOptions,
  type GovernanceSettings,
  readGovernanceOptions,
} from "./governance-options.ts"
import { type GovernanceState, readGovernanceState } from "./governance-state.ts"
import type { Redactor } from "./redaction/index.ts"
import { type RunInfo, type RunOutcome, RunRecord } from "./run-record.ts"
import type { Telemetry } from "./telemetry/index.ts"

// A rule about python is one about python3 and py too.
const LANGUAGES = languageTable()

/**
 * What agents and executors are bound by: who may use what, who is asked, what is written down, and what never leaves.
 * Everything is on unless it is switched off.
 *
 * @example
 * await using governance = new Governance({ approval: { provider: terminalApproval() } })
 * const coder = new CodeExecutorAgent({ name: "coder", modelClient, governance })
 */
export class Governance implements AsyncDisposable {
  readonly #settings: GovernanceSettings
  readonly #log: EffectLog
  readonly #filter: ModelFilter | undefined
  readonly #sandboxes: SandboxRecorder
  /** Undefined where nobody is asked. */
  readonly gate: ApprovalGate | undefined
  /** For a runtime: its rules, with denials written down. Undefined where there are none. */
  readonly access: AccessGuard | undefined

  constructor(options: GovernanceOptions = {}) {
    const settings = readGovernanceOptions(options)
    const { sink, redactor, run, auditRequired, onUnrecorded, telemetry, content } = settings
    this.#settings = settings
    this.#log = new EffectLog({ sink, redactor, run, isRequired: auditRequired, onUnrecorded })
    this.#sandboxes = new SandboxRecorder(this.#log)
    this.#filter = settings.filter && new ModelFilter(settings.filter)
    this.access = settings.access && new AuditedAccess(settings.access, this.#log, telemetry)
    this.gate =
      settings.approval &&
      makeGate(settings.approval, new ApprovalAudit({ log: this.#log, telemetry, content }))
  }

  /** The run that records belong to. */
  get run(): string {
    return this.#settings.run
  }

  /** Undefined where nothing is redacted. */
  get redactor(): Redactor | undefined {
    return this.#settings.redactor
  }

  /** The log that it made; undefined where it was given one, or none. */
  get auditLog(): AuditLog | undefined {
    return this.#settings.ownLog
  }

  get telemetry(): Telemetry {
    return this.#settings.telemetry
  }

  /** For interventions of a runtime, and texts of one's own; undefined where nothing is filtered. */
  get filter(): MessageFilter | undefined {
    return this.#filter?.filter
  }

  /** What the effects of an agent of this name go through. */
  agent(name: string): Governor {
    const { telemetry, content, redactor, run } = this.#settings
    return new Governor({
      agent: name,
      run,
      log: this.#log,
      telemetry,
      content,
      access: this.access,
      gate: this.gate,
      redactor,
      filter: this.#filter,
    })
  }

  /** Writes something down. @throws what keeps it from the disk, where records are required */
  async record(entry: AuditEntry, options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    await this.#log.record(entry, options)
  }

  /**
   * Writes down when the sandboxes of an executor begin and end: for whoever makes one, before its first use, until this
   * is disposed. `close` rejects when it could not be written down.
   *
   * @example
   * await using executor = await createExecutor()
   * using watch = governance.watchSandboxes(executor)
   */
  watchSandboxes(executor: CodeExecutor): Disposable {
    return this.#sandboxes.watch(executor)
  }

  /** Opens the log now, to fail early. */
  async open(options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    try {
      await this.#settings.ownLog?.open(options)
    } catch (error) {
      options?.signal?.throwIfAborted()
      if (this.#settings.auditRequired) throw error
      this.#settings.onUnrecorded(error)
    }
  }

  /** Writes down that a run begins; whoever began it says how it ended. */
  async beginRun(info: RunInfo, options?: { readonly signal?: AbortSignal | undefined }): Promise<RunRecord> {
    const { content, redactor } = this.#settings
    const redact = (text: string): string => redactor?.text(text) ?? text
    const texts = { areKept: content.messages === true, redact }
    return RunRecord.begin(this.#log, info, texts, options?.signal)
  }

  /** Writes down a run: its beginning, and how it ended. */
  async auditRun<T extends RunOutcome>(info: RunInfo, work: () => Promise<T>): Promise<T> {
    const record = await this.beginRun(info)
    try {
      const result = await work()
      await record.end(result)
      return result
    } catch (error) {
      await record.fail(error)
      throw error
    }
  }

  /** What waits for approvals, as plain data for another process. */
  async saveState(options?: { readonly signal?: AbortSignal | undefined }): Promise<GovernanceState> {
    return { type: "GovernanceState", version: 1, approvals: await this.gate?.saveState(options) }
  }

  /** @throws STATE_INVALID */
  loadState(state: unknown): void {
    const { approvals } = readGovernanceState(state)
    if (approvals !== undefined) this.gate?.loadState(approvals)
  }

  /** Closes the log that it made. */
  async close(): Promise<void> {
    try {
      await this.#sandboxes.settle()
    } finally {
      await this.#settings.ownLog?.close()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

// The log first: what others are told of has been written down.
function makeGate(
  { onRequest, onDecision, ...options }: ApprovalGateOptions,
  audit: ApprovalAudit,
): ApprovalGate {
  return new ApprovalGate({
    languageName: (language) => LANGUAGES.lookup(language).name,
    ...options,
    onRequest: async (request) => {
      await audit.request(request)
      await onRequest?.(request)
    },
    onDecision: async (record) => {
      await audit.decision(record)
      await onDecision?.(record)
    },
  })
}
