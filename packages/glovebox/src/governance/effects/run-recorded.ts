import { randomUUID } from "node:crypto"
import { GloveboxError } from "../../core/index.ts"
import type { CodeBlock, CodeExecutor, CodeResult, ExecutionEvent } from "../../executors/index.ts"
import { withoutResult } from "../../executors/result-of.ts"
import { abortableAfter } from "../../internal/abortable-after.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { codeRunDone, codeRunFailed, codeRunIntent } from "../audit/code-run-data.ts"
import type { AuditData } from "../audit/record-kinds.ts"
import type { Redactor } from "../redaction/redactor.ts"
import type { Observed } from "../telemetry/index.ts"
import type { Controls } from "./controls.ts"
import type { EffectEntry } from "./effect-log.ts"
import { EgressRecorder } from "./egress-recorder.ts"
import { executorKind } from "./executor-kind.ts"
import { type Reach, isWithin, reachOf } from "./executor-reach.ts"
import { redactEvents } from "./redact-events.ts"

export interface RecordedRun {
  readonly executor: CodeExecutor
  readonly blocks: readonly CodeBlock[]
  /** What it could reach when it was allowed. */
  readonly reach: Reach
  readonly controls: Controls
  /** For what is told; undefined where that is somebody else's. */
  readonly redactor: Redactor | undefined
  readonly observed: Observed<CodeResult>
  readonly signal: AbortSignal | undefined
}

// As long as an executor may take to end after an abort.
const ENDING_MS = 10_000

/** Announces a run on the disk, runs it, and records how it ended before anybody hears of it. */
export async function* runRecorded(run: RecordedRun): AsyncGenerator<ExecutionEvent, void, undefined> {
  const { executor, blocks, reach, controls, observed, signal } = run
  const { agent, log, content } = controls
  const id = randomUUID()
  const intent = {
    ...codeRunIntent(id, blocks, content),
    executor: executorKind(executor),
    policySha256: reach.policy?.sha256,
  }
  const entry = (data: AuditData<"code-run">): EffectEntry => ({ kind: "code-run", agent, data })
  const effect = await log.begin(entry(intent), { signal })
  const egress = new EgressRecorder(id, controls, observed)
  const start = performance.now()
  let failure = "Nobody wanted the rest of the run."
  try {
    signal?.throwIfAborted()
    if (!isWithin(reachOf(executor), reach)) throw widened()
    let isFinished = false
    for await (const event of eventsOf(run)) {
      if (event.type === "egress") await egress.take(event)
      // A run ends once; what is told after that is of no run.
      if (isFinished) continue
      if (event.type === "finished") {
        isFinished = true
        await effect.close(entry(codeRunDone(intent, event.result, content)), egress.end())
        observed.end(event.result)
      }
      yield event
    }
    if (!isFinished) throw withoutResult()
  } catch (error) {
    failure = errorMessage(error)
    throw error
  } finally {
    const late = egress.end()
    await effect.close(entry(codeRunFailed(intent, failure, performance.now() - start)), late)
    await late
  }
}

/** What the executor tells; one that does not look at its signal is left to itself some time after the abort. */
async function* eventsOf({
  executor,
  blocks,
  redactor,
  signal,
}: RecordedRun): AsyncGenerator<ExecutionEvent, void, undefined> {
  const events = executor.stream(blocks, { signal })
  const told = redactor ? redactEvents(events, redactor) : events
  let isDone = false
  let isStuck = false
  try {
    for (;;) {
      isStuck = true
      const next = await abortableAfter(told.next(), signal, ENDING_MS)
      isStuck = false
      isDone = next.done === true
      if (next.done === true) return
      yield next.value
    }
  } catch (error) {
    isDone = !(isStuck && signal?.aborted === true)
    throw error
  } finally {
    if (!isDone) {
      const ended = told.return()
      if (isStuck) ended.catch(() => {})
      else await ended
    }
  }
}

function widened(): GloveboxError {
  return new GloveboxError(
    "APPROVAL_MISMATCH",
    "What the executor lets code reach was widened after it was allowed, so the code did not run.",
  )
}
