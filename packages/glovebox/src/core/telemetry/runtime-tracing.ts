import {
  type Context,
  INVALID_SPAN_CONTEXT,
  ProxyTracerProvider,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  context,
  trace,
} from "@opentelemetry/api"
import { errorMessage } from "../../internal/error-message.ts"
import { isError } from "../../internal/is-error.ts"
import { type AgentId, formatAgentId } from "../agent-id.ts"
import { type Message, messageTypeOf } from "../message.ts"
import { type TopicId, formatTopicId } from "../topic-id.ts"

export type TracedOperation = "create" | "send" | "publish" | "process"

const TRACER_NAME = "glovebox"
// What the API hands out while nobody has installed a tracing SDK.
const NO_PROVIDER = new ProxyTracerProvider().getDelegate()

/** The spans of a runtime: create, then send or publish, then process, each the child of the one before. */
export class RuntimeTracing {
  readonly #provider: TracerProvider | undefined
  #tracer: Tracer | undefined

  /** With undefined, the global provider is used, also one installed later; null switches tracing off. */
  constructor(provider: TracerProvider | null | undefined) {
    this.#provider = provider === null ? NO_PROVIDER : (provider ?? trace.getTracerProvider())
  }

  /** Asked for each message, so that a runtime without tracing pays next to nothing. */
  get enabled(): boolean {
    const provider = this.#provider
    return (provider instanceof ProxyTracerProvider ? provider.getDelegate() : provider) !== NO_PROVIDER
  }

  start(
    operation: TracedOperation,
    target: AgentId | TopicId,
    message: Message,
    messageId: string,
    parent: Context,
  ): Span {
    try {
      return this.#start(operation, target, message, messageId, parent)
    } catch {
      // A tracer that fails must not take messages with it.
      return trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
    }
  }

  #start(
    operation: TracedOperation,
    target: AgentId | TopicId,
    message: Message,
    messageId: string,
    parent: Context,
  ): Span {
    const destination = "key" in target ? formatAgentId(target) : formatTopicId(target)
    this.#tracer ??= this.#provider?.getTracer(TRACER_NAME) ?? trace.getTracer(TRACER_NAME)
    return this.#tracer.startSpan(
      `glovebox ${operation} ${destination}`,
      {
        kind: operation === "process" ? SpanKind.CONSUMER : SpanKind.PRODUCER,
        attributes: {
          "messaging.system": "glovebox",
          "messaging.operation.name": operation,
          "messaging.operation.type": operation === "publish" ? "send" : operation,
          "messaging.destination.name": destination,
          "messaging.message.id": messageId,
          "glovebox.message.type": messageTypeOf(message)?.typeName ?? "unknown",
        },
      },
      parent,
    )
  }
}

/** The context to start a span in: the caller's own span, else the span of the handler it runs in. */
export function parentContext(handler: Context | undefined): Context {
  const active = context.active()
  return trace.getSpan(active) === undefined && handler !== undefined ? handler : active
}

export function endSpan(span: Span | undefined, error?: unknown): void {
  if (span === undefined) return
  try {
    if (error !== undefined) {
      const message = errorMessage(error)
      span.recordException(isError(error) ? error : message)
      span.setStatus({ code: SpanStatusCode.ERROR, message })
      span.setAttribute("error.type", errorType(error))
    }
    span.end()
  } catch {
    // A tracer that fails must not take messages with it.
  }
}

function errorType(error: unknown): string {
  if (isError(error)) return "code" in error ? String(error.code) : error.name
  return typeof error
}
