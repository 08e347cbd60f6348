import { ROOT_CONTEXT, type Span, trace } from "@opentelemetry/api"
import type { AgentId } from "../../../core/agent-id.ts"
import type { Message } from "../../../core/message.ts"
import { currentDelivery } from "../../../core/single-threaded/dispatcher.ts"
import { type RuntimeTracing, endSpan, parentContext } from "../../../core/telemetry/runtime-tracing.ts"
import { type TraceMetadata, traceMetadataOf } from "../../../core/telemetry/trace-context.ts"
import type { TopicId } from "../../../core/topic-id.ts"

interface Traced {
  readonly message: Message
  readonly messageId: string
  span: Span | undefined
  trace: TraceMetadata | undefined
}

/** Begins the spans of a message that leaves this process; without tracing here, passes on the trace it came with. */
export function startTrace(
  tracing: RuntimeTracing,
  item: Traced,
  target: AgentId | TopicId,
  operation: "send" | "publish",
): void {
  const cause = currentDelivery()
  if (!tracing.enabled) {
    item.trace = cause?.trace
    return
  }
  const { message, messageId } = item
  const parent = parentContext(cause?.handlerTrace)
  const created = tracing.start("create", target, message, messageId, parent)
  item.span = tracing.start(operation, target, message, messageId, trace.setSpan(ROOT_CONTEXT, created))
  item.trace = traceMetadataOf(item.span)
  endSpan(created)
}
