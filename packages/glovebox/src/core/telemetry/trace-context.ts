import { type Context, ROOT_CONTEXT, type Span, createTraceState, trace } from "@opentelemetry/api"

/** The W3C trace context as it travels beside a message. */
export interface TraceMetadata {
  readonly traceparent: string
  readonly tracestate?: string | undefined
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

export function traceMetadataOf(span: Span): TraceMetadata {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`
  const tracestate = traceState?.serialize()
  return tracestate ? { traceparent, tracestate } : { traceparent }
}

/** The context a message was made in; the root when its metadata is missing or malformed. */
export function contextFromTraceMetadata(metadata: TraceMetadata | undefined): Context {
  const match = TRACEPARENT.exec(metadata?.traceparent ?? "")
  if (!match) return ROOT_CONTEXT
  const [, traceId = "", spanId = "", flags = "00"] = match
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(metadata?.tracestate === undefined ? {} : { traceState: createTraceState(metadata.tracestate) }),
  })
}
