import type { Attributes, Meter } from "@opentelemetry/api"
import { cleanAttributes } from "./clean-attributes.ts"

interface Counter {
  add(value: number, attributes: Attributes): void
}

interface Histogram {
  record(value: number, attributes: Attributes): void
}

// The conventions' own boundaries, in seconds: for calls, for agents, and for numbers of tokens.
const CALL_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const AGENT_SECONDS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power)
// People take their time.
const APPROVAL_SECONDS = [0.1, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400]

/** Everything that is counted and measured; docs/observability.md has the same list. */
export class Instruments {
  readonly modelDuration: Histogram
  readonly tokens: Histogram
  readonly agentDuration: Histogram
  readonly toolDuration: Histogram
  readonly toolCalls: Counter
  readonly codeRuns: Counter
  readonly codeDuration: Histogram
  readonly sandboxStarts: Counter
  readonly approvals: Counter
  readonly approvalDuration: Histogram
  readonly denials: Counter
  readonly connections: Counter
  readonly egressBytes: Counter

  constructor(meter: Meter, redact: (text: string) => string) {
    const histogram = (name: string, unit: string, description: string, boundaries: number[]): Histogram => {
      const advice = { explicitBucketBoundaries: boundaries }
      const made = meter.createHistogram(name, { description, unit, advice })
      return { record: (value, attributes) => made.record(value, cleanAttributes(attributes, redact)) }
    }
    const seconds = (name: string, description: string, boundaries: number[]): Histogram =>
      histogram(name, "s", description, boundaries)
    const counter = (name: string, unit: string, description: string): Counter => {
      const made = meter.createCounter(name, { description, unit })
      return { add: (value, attributes) => made.add(value, cleanAttributes(attributes, redact)) }
    }

    this.modelDuration = seconds(
      "gen_ai.client.operation.duration",
      "How long calls of a model took.",
      CALL_SECONDS,
    )
    this.tokens = histogram(
      "gen_ai.client.token.usage",
      "{token}",
      "How many tokens went in and came out.",
      TOKENS,
    )
    this.agentDuration = seconds(
      "gen_ai.invoke_agent.duration",
      "How long the turns of an agent took.",
      AGENT_SECONDS,
    )
    this.toolDuration = seconds("gen_ai.execute_tool.duration", "How long calls of tools took.", CALL_SECONDS)
    this.toolCalls = counter("glovebox.tool.calls", "{call}", "Calls of tools.")
    this.codeRuns = counter("glovebox.code.runs", "{run}", "Runs of code.")
    this.codeDuration = seconds("glovebox.code.duration", "How long runs of code took.", CALL_SECONDS)
    this.sandboxStarts = counter("glovebox.sandbox.starts", "{sandbox}", "Sandboxes that code was given.")
    this.approvals = counter("glovebox.approvals", "{request}", "Requests for an approval.")
    this.approvalDuration = seconds(
      "glovebox.approval.duration",
      "How long answers were waited for.",
      APPROVAL_SECONDS,
    )
    this.denials = counter("glovebox.denials", "{denial}", "What was refused.")
    this.connections = counter(
      "glovebox.egress.connections",
      "{connection}",
      "Connections that code asked for.",
    )
    this.egressBytes = counter("glovebox.egress.io", "By", "Bytes that code sent and received.")
  }
}
