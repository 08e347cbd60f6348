import type { ChosenExecutor, CreateExecutorOptions } from "../../executors/index.ts"
import type { AuditLog, AuditPosition, Governance, RunRecord } from "../../governance/index.ts"
import { policyData } from "../../governance/effects/policy-data.ts"
import { userName } from "../../internal/user-name.ts"
import { type OpenAt, type SandboxOptions, openExecutor } from "../sandbox-options.ts"
import { version } from "../version.ts"
import { refuseWritableLog } from "./refuse-writable-log.ts"
import { SandboxRecords } from "./sandbox-records.ts"

/** Where a log is, and how far it has come. */
export interface AuditPlace {
  readonly path: string
  /** Kept elsewhere, it shows a log that was cut. */
  readonly head: AuditPosition | undefined
}

interface Parts {
  /** As the log names it. */
  readonly command: string
  readonly log: AuditLog | undefined
  readonly govern: (run: string | undefined) => Governance
}

/** What a command is governed by, with the log that it writes. */
export class CommandGovernance implements AsyncDisposable {
  readonly governance: Governance
  readonly #parts: Parts
  readonly #sandboxes: SandboxRecords
  readonly #ownsLog: boolean
  #closed: Promise<void> | undefined

  constructor(parts: Parts, run?: string) {
    this.governance = parts.govern(run)
    this.#parts = parts
    this.#ownsLog = run === undefined
    this.#sandboxes = new SandboxRecords(this.governance)
  }

  /** Undefined when no log is kept. */
  get audit(): AuditPlace | undefined {
    const { log } = this.#parts
    return log && { path: log.path, head: log.head }
  }

  /** The same rules and the same log for another run; the log is closed with this one. */
  another(run: string): CommandGovernance {
    return new CommandGovernance(this.#parts, run)
  }

  /** The executor that the options ask for; that there is one, and its policy, is written down. */
  async openExecutor(
    options: SandboxOptions,
    more: CreateExecutorOptions,
    at: OpenAt & { readonly policySource?: string | undefined },
  ): Promise<ChosenExecutor> {
    const { command, log } = this.#parts
    const onEngineEvent = this.#sandboxes.take
    const executor = await openExecutor(options, { ...more, onEngineEvent }, at)
    try {
      const { policy } = executor
      if (log) await refuseWritableLog(log.path, { workDir: options.workDir, policy })
      const source = options.policy ?? (more.policy ? (at.policySource ?? command) : "default")
      const data = policyData(policy, source)
      await this.governance.record({ kind: "policy-load", data }, { signal: at.signal })
      this.#sandboxes.opened(executor)
      return executor
    } catch (error) {
      await executor[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Writes down that a task begins; whoever began it says how it ended. */
  async beginRun(
    task: string | undefined,
    details: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<RunRecord> {
    const who = { ...details, user: userName() }
    const info = { command: this.#parts.command, task, version: version(), details: who }
    return this.governance.beginRun(info, { signal })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close()
    await this.#closed
  }

  async #close(): Promise<void> {
    try {
      await this.#sandboxes.end()
    } finally {
      if (this.#ownsLog) await this.#parts.log?.close()
    }
  }
}
