import { type Attributes, type Context, type Span, SpanStatusCode } from "@opentelemetry/api"
import { GloveboxError } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { isError } from "../../internal/is-error.ts"
import { attempt } from "./attempt.ts"
import { errorType } from "./error-type.ts"
import { ERROR_TYPE } from "./names.ts"
import { type Observed, runIn } from "./observed.ts"
import { plainName } from "./plain-name.ts"

/** How something ended, for its numbers. */
export interface Measured<Outcome> {
  readonly seconds: number
  /** Undefined when it failed. */
  readonly outcome: Outcome | undefined
  readonly errorType: string | undefined
}

export interface ObservationParts<Outcome> {
  /** Undefined where only numbers are wanted. */
  readonly span: Span | undefined
  readonly context: Context
  /** How long it had gone on when it began to be observed. */
  readonly sinceMs: number
  readonly redact: (text: string) => string
  readonly attributesOf: (outcome: Outcome) => Attributes
  /** What kind of failure an outcome is, if it is one. */
  readonly failureOf: (outcome: Outcome) => string | undefined
  /** An outcome that an error stands for, if it does. */
  readonly outcomeOf: (error: unknown) => Outcome | undefined
  readonly measure: (measured: Measured<Outcome>) => void
  /** Called once, before the span ends. */
  readonly onSettled: (outcome: Outcome | undefined) => void
}

/** A span, a clock, and what is counted when it ends. */
export class Observation<Outcome> implements Observed<Outcome> {
  readonly #parts: ObservationParts<Outcome>
  readonly #startedAt = performance.now()
  #isSettled = false

  constructor(parts: ObservationParts<Outcome>) {
    this.#parts = parts
  }

  get context(): Context {
    return this.#parts.context
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  run<T>(work: () => T): T {
    return runIn(this.#parts.context, work)
  }

  end(outcome: Outcome): void {
    if (this.#isSettled) return
    const { span, attributesOf, failureOf } = this.#parts
    const failure = attempt(() => failureOf(outcome))
    attempt(() => span?.isRecording() === true && span.setAttributes(attributesOf(outcome)))
    if (failure !== undefined) this.#mark(failure)
    this.#settle(outcome, failure)
  }

  fail(error: unknown): void {
    if (this.#isSettled) return
    const outcome = attempt(() => this.#parts.outcomeOf(error))
    if (outcome !== undefined) return this.end(outcome)
    // It goes on when there is an answer: it neither failed nor is it done, and it is counted when it is.
    if (GloveboxError.is(error, "APPROVAL_PENDING")) {
      attempt(() => this.#parts.span?.setAttribute("glovebox.suspended", true))
      return this.#settle(undefined, undefined, false)
    }
    // A code may be whatever a server said.
    const type = attempt(() => plainName(this.#parts.redact(errorType(error)))) ?? "_OTHER"
    this.#mark(type)
    this.#explain(error, type)
    this.#settle(undefined, type)
  }

  #mark(type: string): void {
    const { span } = this.#parts
    attempt(() => span?.setAttribute(ERROR_TYPE, type))
    attempt(() => span?.setStatus({ code: SpanStatusCode.ERROR }))
  }

  // Messages of errors may quote what they are about.
  #explain(error: unknown, type: string): void {
    const { span, redact } = this.#parts
    if (span === undefined) return
    attempt(() => {
      const message = redact(errorMessage(error))
      const stack = isError(error) && error.stack !== undefined ? redact(error.stack) : undefined
      span.recordException({ name: type, message, ...(stack === undefined ? {} : { stack }) })
      span.setStatus({ code: SpanStatusCode.ERROR, message })
    })
  }

  #settle(outcome: Outcome | undefined, failure: string | undefined, counts = true): void {
    this.#isSettled = true
    const { span, sinceMs, measure, onSettled } = this.#parts
    const seconds = (performance.now() - this.#startedAt + sinceMs) / 1000
    if (counts) attempt(() => measure({ seconds, outcome, errorType: failure }))
    attempt(() => onSettled(outcome))
    attempt(() => span?.end())
  }
}
