import { GloveboxError } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type { AppendOptions } from "../audit/audit-log.ts"
import type { AuditEntry } from "../audit/record-kinds.ts"
import type { AuditSink } from "../audit/run-audited.ts"
import type { Redactor } from "../redaction/redactor.ts"
import { redactRecord } from "./redact-record.ts"

export interface EffectLogOptions {
  /** Undefined where nothing is recorded. */
  readonly sink: AuditSink | undefined
  readonly redactor: Redactor | undefined
  readonly run: string
  /** Whether what cannot be recorded counts as not done. */
  readonly isRequired: boolean
  /** Where it is not required: told what could not be recorded. */
  readonly onUnrecorded: (error: unknown) => void
}

/** An effect whose intent is recorded; the first `close` counts. */
export interface OpenEffect {
  /** @throws AUDIT_OUTCOME_LOST when it happened and its record did not */
  close(outcome: AuditEntry): Promise<void>
}

/** The one way into the audit log: everything passes without its secrets, and with the run that it belongs to. */
export class EffectLog {
  readonly #options: EffectLogOptions

  constructor(options: EffectLogOptions) {
    this.#options = options
  }

  /** Resolves when it is on the disk. */
  async record(entry: AuditEntry, options?: AppendOptions): Promise<void> {
    try {
      await this.#append(entry, options)
    } catch (error) {
      options?.signal?.throwIfAborted()
      this.#unrecorded(error)
    }
  }

  /** Records what is about to be done; when that cannot be, it must not be done. */
  async begin(intent: AuditEntry, options?: AppendOptions): Promise<OpenEffect> {
    await this.record(intent, options)
    let isClosed = false
    return {
      close: async (outcome) => {
        if (isClosed) return
        isClosed = true
        try {
          await this.#append(outcome)
        } catch (error) {
          if (!this.#options.isRequired) this.#options.onUnrecorded(error)
          else throw lost(intent, error)
        }
      },
    }
  }

  async #append(entry: AuditEntry, options?: AppendOptions): Promise<void> {
    const { sink, redactor, run } = this.#options
    if (!sink) return
    const clean = redactor ? redactRecord(entry, redactor) : entry
    await sink.append({ run, ...clean }, options)
  }

  #unrecorded(error: unknown): void {
    if (this.#options.isRequired) throw error
    this.#options.onUnrecorded(error)
  }
}

function lost(intent: AuditEntry, cause: unknown): GloveboxError {
  return new GloveboxError(
    "AUDIT_OUTCOME_LOST",
    `A ${intent.kind} ended, but how could not be recorded, so it does not count as done: ${errorMessage(cause)}`,
    { cause },
  )
}
