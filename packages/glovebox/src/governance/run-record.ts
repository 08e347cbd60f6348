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
  /** What was answered. */
  readonly answer?: string | undefined
}

/** What is recorded of texts. */
export interface RunTexts {
  /** Whether they are, and not only their hashes. */
  readonly areKept: boolean
  /** Takes secrets out: what is hashed is what was told. */
  readonly redact: (text: string) => string
}

/** A run that is written down; the first end counts. */
export class RunRecord {
  readonly #log: EffectLog
  readonly #texts: RunTexts
  readonly #start = performance.now()
  #isOver = false

  private constructor(log: EffectLog, texts: RunTexts) {
    this.#log = log
    this.#texts = texts
  }

  static async begin(
    log: EffectLog,
    { command, task, version, details }: RunInfo,
    texts: RunTexts,
    signal?: AbortSignal,
  ): Promise<RunRecord> {
    const data = {
      command,
      taskSha256: task === undefined ? undefined : sha256Of(task),
      task: texts.areKept ? task : undefined,
      version,
      details: details && { ...details },
    }
    await log.record({ kind: "run-start", data }, { signal })
    return new RunRecord(log, texts)
  }

  async end({ stopKind, stopReason, answer }: RunOutcome = {}): Promise<void> {
    const told = answer === undefined ? undefined : this.#texts.redact(answer)
    await this.#end({
      outcome: stopKind === "suspended" ? "suspended" : "done",
      stopReason,
      answerSha256: told === undefined ? undefined : sha256Of(told),
      answer: this.#texts.areKept ? told : undefined,
    })
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
    readonly answerSha256?: string | undefined
    readonly answer?: string | undefined
  }): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    await this.#log.record({
      kind: "run-end",
      data: { ...data, durationMs: performance.now() - this.#start },
    })
  }
}
