import type { Attributes } from "@opentelemetry/api"
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics"
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base"
import type { EgressConnection } from "../../egress/index.ts"
import type { CreateResult } from "../../models/index.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import type { GateRequest } from "../approval/gate-request.ts"
import { Telemetry, type TelemetryOptions } from "./index.ts"

class MemoryReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

interface Point {
  readonly attributes: Attributes
  /** Of a histogram: how many values it got, and their sum. */
  readonly value: unknown
}

export interface Listener {
  readonly tracerProvider: BasicTracerProvider
  readonly meterProvider: MeterProvider
  /** Those that have ended, the first to end first. */
  readonly spans: () => readonly ReadableSpan[]
  readonly span: (name: string) => ReadableSpan
  /** What was counted and measured under a name, and its unit. */
  readonly metric: (name: string) => Promise<{ readonly unit: string; readonly points: readonly Point[] }>
}

/** SDKs that keep what they get in memory. */
export function listener(): Listener {
  const exporter = new InMemorySpanExporter()
  const reader = new MemoryReader()
  const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans()
  return {
    tracerProvider: new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    meterProvider: new MeterProvider({ readers: [reader] }),
    spans,
    span: (name) => {
      const found = spans().filter((span) => span.name === name)
      if (found[0] === undefined || found.length > 1) throw new Error(`${found.length} spans are "${name}"`)
      return found[0]
    },
    metric: async (name) => {
      const { resourceMetrics } = await reader.collect()
      const found = resourceMetrics.scopeMetrics
        .flatMap(({ metrics }) => metrics)
        .find(({ descriptor }) => descriptor.name === name)
      if (!found) return { unit: "", points: [] }
      return {
        unit: found.descriptor.unit,
        points: found.dataPoints.map(({ attributes, value }) => ({ attributes, value })),
      }
    },
  }
}

/** Telemetry, and what it told. */
export function listening(options: TelemetryOptions = {}): Listener & { readonly telemetry: Telemetry } {
  const heard = listener()
  const { tracerProvider, meterProvider } = heard
  return { ...heard, telemetry: new Telemetry({ tracerProvider, meterProvider, ...options }) }
}

/** Everything that a span holds, as one text to search in. */
export function allTextOf(spans: readonly ReadableSpan[]): string {
  return JSON.stringify(
    spans.map(({ name, attributes, events, status, links }) => [name, attributes, events, status, links]),
  )
}

export function answer(fields: Partial<CreateResult> = {}): CreateResult {
  return {
    finishReason: "stop",
    content: "4",
    usage: { promptTokens: 12, completionTokens: 3 },
    cached: false,
    ...fields,
  }
}

export function approvalRequest(
  fields: { readonly created?: number; readonly code?: string } = {},
): GateRequest {
  const { created = Date.now(), code = "print(1)" } = fields
  return {
    id: "4f0c9b52-7d1c-4f86-9a55-0c5f3f1a2b3c",
    kind: "code",
    payload: { codeBlocks: [{ code, language: "python" }] },
    sha256: "a".repeat(64),
    agent: "coder",
    risk: "high",
    policySha256: new SandboxPolicy().sha256,
    widenings: [{ path: "network", from: "none", to: "example.com:443", effect: "widens" }],
    context: [],
    created,
    expires: created + 60_000,
  }
}

export function connection(fields: Partial<EgressConnection> = {}): EgressConnection {
  return {
    id: 1,
    via: "connect",
    host: "api.example.com",
    port: 443,
    verdict: "allowed",
    rule: "api.example.com:443",
    bytesUp: 0,
    bytesDown: 0,
    durationMs: 0,
    ...fields,
  }
}
