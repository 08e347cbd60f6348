import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  type Tracer,
  context,
  trace,
} from "@opentelemetry/api"
import { attempt } from "./attempt.ts"
import { cleanAttributes } from "./clean-attributes.ts"
import type { Instruments } from "./instruments.ts"
import type { MeterSource } from "./meter-source.ts"
import { type Measured, Observation } from "./observation.ts"
import { type Observed, Unobserved } from "./observed.ts"
import type { TracerSource } from "./tracer-source.ts"

/** What is watched, how it is called, and what is told of it. The functions run only where somebody listens. */
export interface Subject<Outcome> {
  readonly name: string
  /** @default SpanKind.INTERNAL */
  readonly kind?: SpanKind | undefined
  /** When it began, in milliseconds since 1970. @default now */
  readonly since?: number | undefined
  /** Known at its beginning, where samplers decide. */
  readonly attributes: () => Attributes
  /** What was said or written; taken only where content is captured. */
  readonly content?: ((redact: Redact) => Attributes) | undefined
  readonly outcome: (outcome: Outcome) => Attributes
  readonly outcomeContent?: ((outcome: Outcome, redact: Redact) => Attributes) | undefined
  /** What kind of failure an outcome is, if it is one. @default none is */
  readonly failure?: ((outcome: Outcome) => string | undefined) | undefined
  /** An outcome that an error stands for, if it does. @default none does */
  readonly outcomeOfError?: ((error: unknown) => Outcome | undefined) | undefined
  readonly measure: (instruments: Instruments, measured: Measured<Outcome>) => void
  /** Called once, before the span ends. */
  readonly settled?: ((outcome: Outcome | undefined) => void) | undefined
}

export type Redact = (text: string) => string

export interface ObserverOptions {
  readonly tracers: TracerSource
  readonly meters: MeterSource
  readonly captureContent: boolean
  readonly redact: Redact
}

const UNOBSERVED = new Unobserved()

/** Makes observations, where there is anybody to make them for. */
export class Observer {
  readonly #options: ObserverOptions

  constructor(options: ObserverOptions) {
    this.#options = options
  }

  /** A child of the parent, or else of the span that is active. */
  observe<Outcome>(
    parent: Observed<unknown> | undefined,
    describe: () => Subject<Outcome>,
  ): Observed<Outcome> {
    const { tracer } = this.#options.tracers
    if (tracer || this.#options.meters.instruments) {
      const observed = attempt(() => this.#observe(parent?.context ?? context.active(), tracer, describe()))
      if (observed) return observed
    }
    return parent ? new Unobserved(parent.context) : UNOBSERVED
  }

  /** Counts something that takes no time. */
  count(work: (instruments: Instruments) => void): void {
    const { instruments } = this.#options.meters
    if (instruments) attempt(() => work(instruments))
  }

  #observe<Outcome>(
    parent: Context,
    tracer: Tracer | undefined,
    subject: Subject<Outcome>,
  ): Observation<Outcome> {
    const { captureContent, redact } = this.#options
    const span = tracer && this.#start(parent, tracer, subject)
    return new Observation<Outcome>({
      span,
      context: span ? trace.setSpan(parent, span) : parent,
      sinceMs: subject.since === undefined ? 0 : Date.now() - subject.since,
      redact,
      attributesOf: (outcome) => ({
        ...cleanAttributes(subject.outcome(outcome), redact),
        ...(captureContent ? attempt(() => subject.outcomeContent?.(outcome, redact)) : undefined),
      }),
      failureOf: (outcome) => subject.failure?.(outcome),
      outcomeOf: (error) => subject.outcomeOfError?.(error),
      measure: (measured) => this.count((instruments) => subject.measure(instruments, measured)),
      onSettled: (outcome) => subject.settled?.(outcome),
    })
  }

  #start<Outcome>(parent: Context, tracer: Tracer, subject: Subject<Outcome>): Span | undefined {
    const { captureContent, redact } = this.#options
    const { name, kind = SpanKind.INTERNAL, since, content } = subject
    const span = attempt(() => {
      const start = since === undefined ? {} : { startTime: since }
      const attributes = cleanAttributes(subject.attributes(), redact)
      // The first word is what is done, and nobody's but ours.
      const shown = attempt(() => redact(name)) ?? name.split(" ")[0] ?? ""
      return tracer.startSpan(shown, { kind, attributes, ...start }, parent)
    })
    if (span && captureContent && content) {
      attempt(() => span.isRecording() && span.setAttributes(content(redact)))
    }
    return span
  }
}
