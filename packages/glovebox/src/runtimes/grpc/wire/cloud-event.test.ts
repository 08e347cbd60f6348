import { describe, expect, it } from "vitest"
import { agentId } from "../../../core/agent-id.ts"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { topicId } from "../../../core/topic-id.ts"
import { AUTOGEN_BYTES } from "./autogen-bytes.test-kit.ts"
import { PROTOBUF_CONTENT_TYPE, type PublishedEvent, eventOf, readEvent } from "./cloud-event.ts"
import { decodeMessage, encodeMessage } from "./codec.ts"
import type { CloudEvent } from "./wire-message.ts"

const json: PublishedEvent = {
  id: "e1",
  topicId: topicId("t", "s"),
  sender: agentId("caller"),
  payload: { typeName: "Ping", contentType: "application/json", data: Buffer.from('{"n":1}') },
}

function overTheWire(event: CloudEvent): CloudEvent {
  const read = decodeMessage(encodeMessage({ cloudEvent: event })).cloudEvent
  if (!read) throw new Error("no event was read")
  return read
}

function fromAutogen(hex: string): CloudEvent {
  const read = decodeMessage(Buffer.from(hex, "hex")).cloudEvent
  if (!read) throw new Error("no event was read")
  return read
}

describe("events", () => {
  it("reads what AutoGen publishes, and writes the same", () => {
    expect(readEvent(fromAutogen(AUTOGEN_BYTES.event))).toEqual(json)
    expect(fromAutogen(AUTOGEN_BYTES.event)).toMatchObject(eventOf(json))
  })

  it("carries the trace in attributes", () => {
    const trace = { traceparent: "00-1", tracestate: "a=b" }
    expect(readEvent(overTheWire(eventOf({ ...json, trace })))).toEqual({ ...json, trace })
    const short = { traceparent: "00-1" }
    expect(readEvent(overTheWire(eventOf({ ...json, trace: short }))).trace).toEqual(short)
  })

  it("carries a protobuf message as Any", () => {
    const payload = {
      typeName: "agents.AgentId",
      contentType: PROTOBUF_CONTENT_TYPE,
      data: Buffer.from(AUTOGEN_BYTES.any, "hex"),
    }
    const event = overTheWire(eventOf({ ...json, payload }))
    expect(event.proto_data?.type_url).toBe("type.googleapis.com/agents.AgentId")
    expect(event.binary_data).toBeUndefined()
    expect(readEvent(event).payload).toEqual(payload)
    // As .NET sends it: the Any alone says what it is.
    expect(readEvent(fromAutogen(AUTOGEN_BYTES.protoEvent)).payload).toEqual(payload)
  })

  it("has no sender where there is none, nor where AutoGen says unknown", () => {
    const { sender: _, ...anonymous } = json
    const event = eventOf(anonymous)
    expect(Object.keys(event.attributes ?? {})).not.toContain("agagentsendertype")
    expect(readEvent(overTheWire(event))).toEqual(anonymous)
    const unknown = eventOf({ ...json, sender: agentId("unknown", "unknown") })
    expect(readEvent(overTheWire(unknown)).sender).toBeUndefined()
    expect(readEvent(overTheWire(eventOf({ ...json, sender: agentId("unknown", "1") }))).sender).toEqual(
      agentId("unknown", "1"),
    )
  })

  it("refuses topics and senders that cannot be", () => {
    const event = eventOf(json)
    expect(failureOf(() => readEvent({ ...event, type: "" }))).toMatch(/^TOPIC_ID_INVALID/)
    expect(failureOf(() => readEvent({ ...event, source: "" }))).toMatch(/^TOPIC_ID_INVALID/)
    const attributes = { ...event.attributes, agagentsendertype: { ce_string: "no type" } }
    expect(failureOf(() => readEvent({ ...event, attributes }))).toMatch(/^AGENT_ID_INVALID/)
    const broken = { typeName: "x", contentType: PROTOBUF_CONTENT_TYPE, data: Buffer.from([0x12, 0x7f]) }
    expect(failureOf(() => eventOf({ ...json, payload: broken }))).toMatch(/^SERIALIZATION_FAILED/)
  })

  it("reads an event without attributes or data as an empty payload", () => {
    expect(readEvent(overTheWire({ id: "", source: "s", type: "t" }))).toEqual({
      id: "",
      topicId: topicId("t", "s"),
      payload: { typeName: "", contentType: "application/json", data: Buffer.alloc(0) },
    })
    const text = overTheWire({ id: "", source: "s", type: "t", text_data: "{}" })
    expect(readEvent(text).payload.data).toEqual(Buffer.from("{}"))
  })
})
