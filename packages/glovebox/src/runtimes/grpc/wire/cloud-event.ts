import { type AgentId, agentId } from "../../../core/agent-id.ts"
import { JSON_CONTENT_TYPE } from "../../../core/json-serializer.ts"
import type { Payload } from "../../../core/message-serializer.ts"
import type { TraceMetadata } from "../../../core/telemetry/trace-context.ts"
import { type TopicId, topicId } from "../../../core/topic-id.ts"
import { decodeAny, encodeAny } from "./codec.ts"
import { MESSAGE_METADATA } from "./metadata-names.ts"
import type { CloudEvent, CloudEventAttribute } from "./wire-message.ts"

export const PROTOBUF_CONTENT_TYPE = "application/x-protobuf"

/** A published message, as AutoGen's events carry it. */
export interface PublishedEvent {
  readonly id: string
  readonly topicId: TopicId
  readonly sender?: AgentId | undefined
  /** Of a protobuf message the data is a serialized `Any`. */
  readonly payload: Payload
  readonly trace?: TraceMetadata | undefined
}

export function eventOf({ id, topicId, sender, payload, trace }: PublishedEvent): CloudEvent {
  const attributes: Record<string, CloudEventAttribute> = {
    datacontenttype: { ce_string: payload.contentType },
    dataschema: { ce_string: payload.typeName },
    agmsgkind: { ce_string: "publish" },
  }
  // AutoGen reads missing attributes as no sender, but "unknown" as an agent of that name.
  if (sender) {
    attributes["agagentsendertype"] = { ce_string: sender.type }
    attributes["agagentsenderkey"] = { ce_string: sender.key }
  }
  if (trace) {
    attributes[MESSAGE_METADATA.traceparent] = { ce_string: trace.traceparent }
    if (trace.tracestate !== undefined) {
      attributes[MESSAGE_METADATA.tracestate] = { ce_string: trace.tracestate }
    }
  }
  const head = { id, source: topicId.source, spec_version: "1.0", type: topicId.type, attributes }
  return payload.contentType === PROTOBUF_CONTENT_TYPE
    ? { ...head, proto_data: decodeAny(payload.data) }
    : { ...head, binary_data: payload.data }
}

/** Throws for a topic or a sender that cannot be one. */
export function readEvent(event: CloudEvent): PublishedEvent {
  const sender = senderOf(event)
  const trace = traceOf(event)
  return {
    id: event.id,
    topicId: topicId(event.type, event.source),
    payload: payloadOf(event),
    ...(sender ? { sender } : {}),
    ...(trace ? { trace } : {}),
  }
}

/** Undefined when there is no sender, which AutoGen writes as `unknown/unknown`. */
function senderOf(event: CloudEvent): AgentId | undefined {
  const type = attribute(event, "agagentsendertype")
  const key = attribute(event, "agagentsenderkey")
  if (type === "" || key === "" || (type === "unknown" && key === "unknown")) return undefined
  return agentId(type, key)
}

function traceOf(event: CloudEvent): TraceMetadata | undefined {
  const traceparent = attribute(event, MESSAGE_METADATA.traceparent)
  if (traceparent === "") return undefined
  const tracestate = attribute(event, MESSAGE_METADATA.tracestate)
  return tracestate === "" ? { traceparent } : { traceparent, tracestate }
}

function payloadOf(event: CloudEvent): Payload {
  const contentType = attribute(event, "datacontenttype")
  const typeName = attribute(event, "dataschema")
  if (event.proto_data) {
    const named = event.proto_data.type_url.slice(event.proto_data.type_url.lastIndexOf("/") + 1)
    const data = encodeAny(event.proto_data)
    return { typeName: typeName || named, contentType: contentType || PROTOBUF_CONTENT_TYPE, data }
  }
  const data = event.binary_data ?? Buffer.from(event.text_data ?? "", "utf8")
  return { typeName, contentType: contentType || JSON_CONTENT_TYPE, data }
}

function attribute(event: CloudEvent, name: string): string {
  const attributes = event.attributes ?? {}
  // An attribute of another kind than text has "" here, the default of the wire.
  return Object.hasOwn(attributes, name) ? (attributes[name]?.ce_string ?? "") : ""
}
