import { readOptions } from "../../core/read-options.ts"
import type { EgressEvent } from "../../egress/index.ts"
import type { CodeResult } from "../../executors/code-result.ts"
import type { CreateResult } from "../../models/create-result.ts"
import type { ToolResult } from "../../tools/tool-result.ts"
import type { GateRequest } from "../approval/gate-request.ts"
import { Redactor } from "../redaction/redactor.ts"
import { type AgentRunInfo, type AgentRunOutcome, agentRun } from "./agent-run.ts"
import { type ApprovalOutcome, approval } from "./approval.ts"
import { attempt } from "./attempt.ts"
import { type CodeRunInfo, codeRun } from "./code-run.ts"
import { type EgressInfo, EgressSpans } from "./egress-spans.ts"
import { MeterSource } from "./meter-source.ts"
import { type ModelCallInfo, modelCall } from "./model-call.ts"
import { AGENT_NAME } from "./names.ts"
import type { Observed } from "./observed.ts"
import { Observer, type Redact } from "./observer.ts"
import { plainName } from "./plain-name.ts"
import { PoolGauge, type PooledExecutor } from "./pool-gauge.ts"
import { type TelemetryOptions, telemetryOptionsSchema } from "./telemetry-options.ts"
import { type ToolCallInfo, toolCall } from "./tool-call.ts"
import { TracerSource } from "./tracer-source.ts"

export interface DenialInfo {
  readonly agent: string
  /** What said no. */
  readonly kind: "access" | "approval" | "filter" | "egress"
  /** Of the tool, the executor or the rule. */
  readonly name: string
}

/**
 * The spans and metrics of what agents do, in OpenTelemetry's conventions for generative AI. It never throws, and
 * where no SDK is installed it does next to nothing.
 *
 * @example
 * const observed = telemetry.toolCall({ agent: "coder", tool: "search" })
 * try {
 *   observed.end(await observed.run(() => call()))
 * } catch (error) {
 *   observed.fail(error)
 *   throw error
 * }
 */
export class Telemetry {
  readonly #redact: Redact
  readonly #pools = new PoolGauge()
  readonly #meters: MeterSource
  readonly #observer: Observer
  readonly #egress: EgressSpans

  constructor(options: TelemetryOptions = {}) {
    const read = readOptions("Telemetry", telemetryOptionsSchema, options)
    this.#redact = read.redact ?? byRedactor()
    this.#meters = new MeterSource(read.meterProvider, (meter) => this.#pools.attach(meter), this.#redact)
    this.#observer = new Observer({
      tracers: new TracerSource(read.tracerProvider),
      meters: this.#meters,
      captureContent: read.captureContent,
      redact: this.#redact,
    })
    this.#egress = new EgressSpans(this.#observer, this.#redact)
  }

  /** A turn of an agent. */
  invokeAgent(info: AgentRunInfo): Observed<AgentRunOutcome> {
    return this.#observer.observe(info.parent, () => agentRun(info))
  }

  modelCall(info: ModelCallInfo): Observed<CreateResult> {
    return this.#observer.observe(info.parent, () => modelCall(info))
  }

  toolCall(info: ToolCallInfo): Observed<ToolResult> {
    return this.#observer.observe(info.parent, () => toolCall(info))
  }

  codeRun(info: CodeRunInfo): Observed<CodeResult> {
    const observed: Observed<CodeResult> = this.#observer.observe(info.parent, () => ({
      ...codeRun(info),
      settled: (result) => this.#egress.endRun(observed, result?.egress),
    }))
    return observed
  }

  /** From the request to its answer; the errors of a gate that mean no, or not yet, are answers. */
  approval(
    request: GateRequest,
    { parent }: { readonly parent?: Observed<unknown> | undefined } = {},
  ): Observed<ApprovalOutcome> {
    return this.#observer.observe(parent, () => approval(request, this.#redact))
  }

  /** What an executor tells of a program's connections. */
  egress(event: EgressEvent, info: EgressInfo): void {
    attempt(() => this.#egress.tell(event, info))
  }

  /** Counts a refusal; nothing else does. */
  denied({ agent, kind, name }: DenialInfo): void {
    this.#observer.count(({ denials }) =>
      denials.add(1, {
        [AGENT_NAME]: agent,
        "glovebox.denial.kind": kind,
        // Programs choose the hosts that they are refused, and there is no end of them.
        ...(kind === "egress" ? {} : { "glovebox.denial.name": plainName(name) }),
      }),
    )
  }

  /** Tells how many sandboxes of an executor wait and work, until it is disposed. */
  watchPool(source: PooledExecutor, { executor }: { readonly executor: string }): Disposable {
    // The gauge is made where the instruments are.
    void this.#meters.instruments
    return this.#pools.watch(source, executor)
  }
}

function byRedactor(): Redact {
  let redactor: Redactor | undefined
  return (text) => {
    redactor ??= new Redactor()
    return redactor.text(text)
  }
}
