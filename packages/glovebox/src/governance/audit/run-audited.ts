import { GloveboxError } from "../../core/glovebox-error.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type { AppendOptions } from "./audit-log.ts"
import type { AuditReceipt } from "./chain-draft.ts"
import type { AuditEntry } from "./record-kinds.ts"

/** What takes records: an `AuditLog`, or something in front of one. */
export interface AuditSink {
  append(entry: AuditEntry, options?: AppendOptions): Promise<AuditReceipt>
}

export interface AuditedEffect<T> {
  /** Recorded before; without it there is no effect. */
  readonly intent: AuditEntry
  readonly effect: () => Promise<T> | T
  /** Recorded after it went well. */
  readonly outcome: (result: T, durationMs: number) => AuditEntry
  /** Recorded after it failed. */
  readonly failure: (message: string, durationMs: number, error: unknown) => AuditEntry
}

export interface RunAuditedOptions {
  /** Whether an effect without a record counts as not done. @default true */
  readonly auditRequired?: boolean | undefined
  /** Where the record is not required: told what could not be recorded. */
  readonly onUnrecorded?: ((error: unknown) => void) | undefined
  /** Until the effect begins; what came of it is recorded all the same. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Records an intent, does the effect, and records how it went. With `auditRequired` an effect whose intent cannot be
 * recorded is not begun, and one whose outcome cannot be recorded is not reported as done.
 *
 * @throws AUDIT_OUTCOME_LOST when the effect happened and its record did not
 */
export async function runAudited<T>(
  log: AuditSink,
  { intent, effect, outcome, failure }: AuditedEffect<T>,
  { auditRequired = true, onUnrecorded, signal }: RunAuditedOptions = {},
): Promise<T> {
  signal?.throwIfAborted()
  try {
    await log.append(intent, { signal })
  } catch (error) {
    signal?.throwIfAborted()
    if (auditRequired) throw error
    onUnrecorded?.(error)
  }
  signal?.throwIfAborted()
  const start = performance.now()
  const record = async (entry: () => AuditEntry, failed?: { error: unknown }): Promise<void> => {
    try {
      await log.append(entry())
    } catch (error) {
      if (auditRequired) throw lost(intent, error, failed)
      onUnrecorded?.(error)
    }
  }
  let result: T
  try {
    result = await effect()
  } catch (error) {
    await record(() => failure(errorMessage(error), performance.now() - start, error), { error })
    throw error
  }
  await record(() => outcome(result, performance.now() - start))
  return result
}

function lost(intent: AuditEntry, cause: unknown, failed: { error: unknown } | undefined): GloveboxError {
  const what = failed ? `failed (${errorMessage(failed.error)})` : "took place"
  return new GloveboxError(
    "AUDIT_OUTCOME_LOST",
    `A ${intent.kind} ${what}, but that could not be recorded, so it does not count as done: ${errorMessage(cause)}`,
    { cause },
  )
}
