import { errorMessage } from "../internal/error-message.ts"
import { sha256Of } from "./audit/index.ts"
import type { EffectLog } from "./effects/effect-log.ts"

/** What a run is about. */
export interface RunInfo {
  /** Such as "run" or "chat". */
  readonly command?: string | undefined
  readonly task?: string | undefined
  readonly version?: string | undefined
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/** How a run ended, as far as a task's result tells it. */
export interface RunOutcome {
  readonly stopKind?: string | undefined
  readonly stopReason?: string | undefined
}

/** A run that is written down; the first end counts. */
export class RunRecord {
  readonly #log: EffectLog
  readonly #start = performance.now()
  #isOver = false

  private constructor(log: EffectLog) {
    this.#log = log
  }

  static async begin(
    log: EffectLog,
    { command, task, version, details }: RunInfo,
    { isTaskKept, signal }: { readonly isTaskKept: boolean; readonly signal?: AbortSignal | undefined },
  ): Promise<RunRecord> {
    const data = {
      command,
      taskSha256: task === undefined ? undefined : sha256Of(task),
      task: isTaskKept ? task : undefined,
      version,
      details: details && { ...details },
    }
    await log.record({ kind: "run-start", data }, { signal })
    return new RunRecord(log)
  }

  async end({ stopKind, stopReason }: RunOutcome = {}): Promise<void> {
    await this.#end({ outcome: stopKind === "suspended" ? "suspended" : "done", stopReason })
  }

  /** An abort is no failure. */
  async fail(error: unknown, signal?: AbortSignal): Promise<void> {
    const isCancelled = signal?.aborted ?? (error instanceof Error && error.name === "AbortError")
    await this.#end({ outcome: isCancelled ? "cancelled" : "failed", error: errorMessage(error) })
  }

  async #end(data: {
    readonly outcome: "done" | "failed" | "cancelled" | "suspended"
    readonly stopReason?: string | undefined
    readonly error?: string | undefined
  }): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    await this.#log.record({
      kind: "run-end",
      data: { ...data, durationMs: performance.now() - this.#start },
    })
  }
}
