import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { abortableAfter } from "../../internal/abortable-after.ts"
import { atMost } from "../../internal/at-most.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type { AppendOptions } from "../audit/audit-log.ts"
import type { AuditEntry } from "../audit/record-kinds.ts"
import type { AuditSink } from "../audit/run-audited.ts"
import type { Redactor } from "../redaction/redactor.ts"
import { redactRecord } from "./redact-record.ts"
import { shrinkRecord } from "./shrink-record.ts"

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

/** What is done, and has a record before and after: code, calls of tools, requests to models. */
export type EffectEntry = Extract<AuditEntry, { readonly kind: "code-run" | "tool-call" | "model-call" }>

/** An effect whose intent is recorded; the first `close` counts. */
export interface OpenEffect {
  /**
   * @param parts What else must be recorded before it counts as done.
   * @throws AUDIT_OUTCOME_LOST when it happened and its record did not
   */
  close(outcome: EffectEntry, parts?: Promise<void>): Promise<void>
}

// After an abort: long enough for a disk, and no sink holds anybody up for ever.
const WRITING_MS = 5_000

/** The one way into the audit log: everything passes without its secrets, and with the run that it belongs to. */
export class EffectLog {
  readonly #options: EffectLogOptions

  constructor(options: EffectLogOptions) {
    this.#options = options
  }

  /** Resolves when it is on the disk. */
  async record(entry: AuditEntry, options: AppendOptions = {}): Promise<void> {
    try {
      await abortable(this.#append(entry, options), options.signal)
    } catch (error) {
      options.signal?.throwIfAborted()
      this.#unrecorded(error)
    }
  }

  /** Records what is about to be done; when that cannot be, it must not be done. */
  async begin(intent: EffectEntry, { signal }: AppendOptions = {}): Promise<OpenEffect> {
    signal?.throwIfAborted()
    const written = this.#append(intent)
    try {
      await abortable(written, signal)
    } catch (error) {
      if (signal?.aborted === true) {
        // It may be on the disk by now, and must not look like something that nobody knows the end of.
        const undone = written.then(() => this.#append(failedOf(intent, "It was ended before it began.")))
        await atMost(undone, WRITING_MS)
        throw signal.reason
      }
      this.#unrecorded(error)
    }
    let isClosed = false
    return {
      close: async (outcome, parts) => {
        if (isClosed) return
        isClosed = true
        await this.#close(intent, outcome, { parts, signal })
      },
    }
  }

  async #close(
    intent: EffectEntry,
    outcome: EffectEntry,
    { parts, signal }: AppendOptions & { readonly parts: Promise<void> | undefined },
  ): Promise<void> {
    const write = async (): Promise<void> => {
      // The outcome is worth more than what belongs to it, and is recorded also without.
      const [before] = await Promise.allSettled([parts])
      await this.#appendOutcome(intent, outcome)
      if (before.status === "rejected") throw before.reason
    }
    try {
      await abortableAfter(write(), signal, WRITING_MS)
    } catch (error) {
      if (!this.#options.isRequired) this.#options.onUnrecorded(error)
      else throw lost(intent, error)
    }
  }

  // What an executor or a model's client tells may be anything; that it ended is recorded all the same.
  async #appendOutcome(intent: EffectEntry, outcome: EffectEntry): Promise<void> {
    try {
      await this.#append(outcome)
    } catch (error) {
      if (!GloveboxError.is(error, "AUDIT_RECORD_INVALID")) throw error
      await this.#append(failedOf(intent, `How it ended cannot be recorded: ${errorMessage(error)}`))
      throw error
    }
  }

  async #append(entry: AuditEntry, options?: AppendOptions): Promise<void> {
    const { sink, redactor, run } = this.#options
    if (!sink) return
    const clean = { run, ...(redactor ? redactRecord(entry, redactor) : entry) }
    try {
      await write(sink, clean, options)
    } catch (error) {
      if (!GloveboxError.is(error, "AUDIT_RECORD_INVALID")) throw error
      // Too large most often: the hashes say what is left out.
      await write(sink, shrinkRecord(clean), options)
    }
  }

  #unrecorded(error: unknown): void {
    if (this.#options.isRequired) throw error
    this.#options.onUnrecorded(error)
  }
}

/** The record of something that was announced, and did not come to its end. */
function failedOf(intent: EffectEntry, error: string): EffectEntry {
  return { ...intent, data: { ...intent.data, phase: "failed", error } } as EffectEntry
}

function lost(intent: AuditEntry, cause: unknown): GloveboxError {
  return new GloveboxError(
    "AUDIT_OUTCOME_LOST",
    `A ${intent.kind} ended, but how could not be recorded, so it does not count as done: ${errorMessage(cause)}`,
    { cause },
  )
}

// A sink may be anybody's; those who must not go on know its failures by their code.
async function write(sink: AuditSink, entry: AuditEntry, options?: AppendOptions): Promise<void> {
  try {
    await sink.append(entry, options)
  } catch (cause) {
    if (GloveboxError.is(cause)) throw cause
    throw new GloveboxError("AUDIT_WRITE_FAILED", `What was to be recorded is not: ${errorMessage(cause)}`, {
      cause,
    })
  }
}
