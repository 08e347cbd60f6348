import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import { AUTOGEN_BYTES } from "./autogen-bytes.test-kit.ts"
import { CODECS, decodeAny, decodeMessage, encodeAny, encodeMessage, packAny, unpackAny } from "./codec.ts"
import type { ControlMessage, WireAny, WireMessage } from "./wire-message.ts"

const target = { type: "echo", key: "ключ/1" }
const payload = { data_type: "Ping", data_content_type: "application/json", data: Buffer.from('{"n":1}') }
const text = (ce_string: string) => ({ ce_string })

const MESSAGES: Partial<Record<keyof typeof AUTOGEN_BYTES, WireMessage>> = {
  request: {
    request: {
      request_id: "7",
      source: { type: "caller", key: "default" },
      target,
      method: "m",
      payload,
      metadata: { traceparent: "00-1", tracestate: "" },
    },
  },
  bareRequest: { request: { request_id: "7", target, payload } },
  response: { response: { request_id: "7", payload, metadata: { a: "b" } } },
  errorResponse: { response: { request_id: "7", error: "it broke" } },
  event: {
    cloudEvent: {
      id: "e1",
      source: "s",
      spec_version: "1.0",
      type: "t",
      attributes: {
        agagentsenderkey: text("default"),
        agagentsendertype: text("caller"),
        agmsgkind: text("publish"),
        datacontenttype: text("application/json"),
        dataschema: text("Ping"),
      },
      binary_data: Buffer.from('{"n":1}'),
    },
  },
  attributes: {
    cloudEvent: {
      id: "e2",
      source: "s",
      spec_version: "1.0",
      type: "t",
      attributes: {
        a: { ce_boolean: true },
        b: { ce_integer: -5 },
        c: { ce_bytes: Buffer.from([0, 255]) },
        d: { ce_uri: "http://x" },
        e: { ce_uri_ref: "/y" },
        f: { ce_timestamp: Buffer.from("0880e2cfaa061005", "hex") },
      },
      text_data: "text",
    },
  },
  protoEvent: {
    cloudEvent: {
      id: "e3",
      source: "s",
      type: "t",
      proto_data: decodeAny(Buffer.from(AUTOGEN_BYTES.any, "hex")),
    },
  },
}

const exact = { id: "s1", typeSubscription: { topic_type: "t", agent_type: "echo" } }
const prefix = { id: "s2", typePrefixSubscription: { topic_type_prefix: "t:", agent_type: "echo" } }

const control = (rpcMessage: WireAny, more: Partial<ControlMessage> = {}): Buffer =>
  CODECS.controlMessage.encode({ rpc_id: "r1", destination: "agentid=echo/1", rpcMessage, ...more })

describe("the codec", () => {
  it.each(Object.entries(MESSAGES))("writes and reads %s as AutoGen does", (name, message) => {
    const hex = AUTOGEN_BYTES[name as keyof typeof AUTOGEN_BYTES]
    expect(encodeMessage(message).toString("hex")).toBe(hex)
    expect(decodeMessage(Buffer.from(hex, "hex"))).toMatchObject(message)
    expect(encodeMessage(decodeMessage(Buffer.from(hex, "hex"))).toString("hex")).toBe(hex)
  })

  it("writes and reads the unary calls as AutoGen does", () => {
    const { registerAgentTypeRequest, addSubscriptionRequest, removeSubscriptionRequest } = CODECS
    const { getSubscriptionsResponse, registerAgentTypeResponse, getSubscriptionsRequest } = CODECS
    const written = {
      register: registerAgentTypeRequest.encode({ type: "echo" }).toString("hex"),
      addType: addSubscriptionRequest.encode({ subscription: exact }).toString("hex"),
      addPrefix: addSubscriptionRequest.encode({ subscription: prefix }).toString("hex"),
      remove: removeSubscriptionRequest.encode({ id: "s1" }).toString("hex"),
      subscriptions: getSubscriptionsResponse.encode({ subscriptions: [exact, prefix] }).toString("hex"),
    }
    expect(AUTOGEN_BYTES).toMatchObject(written)
    const bytes = Buffer.from(AUTOGEN_BYTES.subscriptions, "hex")
    expect(getSubscriptionsResponse.decode(bytes)).toMatchObject({ subscriptions: [exact, prefix] })
    for (const empty of [
      registerAgentTypeResponse,
      CODECS.addSubscriptionResponse,
      CODECS.removeSubscriptionResponse,
      getSubscriptionsRequest,
    ]) {
      expect(empty.encode({})).toHaveLength(0)
      expect(empty.decode(Buffer.alloc(0))).toMatchObject({})
    }
  })

  it("writes the control channel's messages as AutoGen does", () => {
    const written = {
      save: control(packAny("SaveStateRequest", { agentId: target }), { respond_to: "clientid=c1" }),
      saved: control(packAny("SaveStateResponse", { state: "{}" })),
      load: control(packAny("LoadStateRequest", { agentId: target, state: "{}" })),
      loadFailed: control(packAny("LoadStateResponse", { error: "no" })),
    }
    for (const [name, bytes] of Object.entries(written)) {
      expect(bytes.toString("hex")).toBe(AUTOGEN_BYTES[name as keyof typeof written])
    }
  })

  it.each([
    ["save", "SaveStateRequest", { agentId: target }],
    ["saved", "SaveStateResponse", { state: "{}", error: undefined }],
    ["saveFailed", "SaveStateResponse", { state: "", error: "" }],
    ["load", "LoadStateRequest", { agentId: target, state: "{}" }],
    ["loaded", "LoadStateResponse", { error: undefined }],
    ["loadFailed", "LoadStateResponse", { error: "no" }],
  ] as const)("reads AutoGen's control message %s", (name, contentName, value) => {
    const message = CODECS.controlMessage.decode(Buffer.from(AUTOGEN_BYTES[name], "hex"))
    expect(message).toMatchObject({ rpc_id: "r1", destination: "agentid=echo/1" })
    const content = message.rpcMessage ? unpackAny(message.rpcMessage) : undefined
    expect(content?.name).toBe(contentName)
    expect(content?.value).toMatchObject(value)
  })

  it("carries what AutoGen has no message for", () => {
    const call = unpackAny(packAny("ControlCall", { json: '{"action":"metadata"}' }))
    expect(call).toMatchObject({ name: "ControlCall", value: { json: '{"action":"metadata"}' } })
    const answer = unpackAny(packAny("ControlAnswer", { json: "", error: "no", code: "AGENT_UNKNOWN" }))
    expect(answer).toMatchObject({ name: "ControlAnswer", value: { error: "no", code: "AGENT_UNKNOWN" } })
    expect(unpackAny({ type_url: "type.googleapis.com/other.Thing", value: Buffer.alloc(0) })).toBeUndefined()
    expect(unpackAny({ type_url: "toString", value: Buffer.alloc(0) })).toBeUndefined()
  })

  it("carries our own fields", () => {
    const message: WireMessage = {
      notice: {
        handled: 3,
        refusals: [{ seq: 2 ** 40, code: "QUEUE_FULL", text: "full" }],
        cancellations: [{ id: "1", reason: "gone" }],
        removed: [target],
        alive: [target],
        unregistered: ["echo"],
        leave: "drain",
        quiet_question: { id: 1 },
        quiet_answer: { id: 1, activity: 2 ** 50 },
      },
      beat: { received: 2 ** 50, ping: 1, pong: 2 },
      seq: 2 ** 45 + 1,
      targets: ["echo"],
      batch: [{ request: { request_id: "1" } }],
    }
    expect(decodeMessage(encodeMessage(message))).toMatchObject(message)
    expect(decodeMessage(Buffer.alloc(0))).toMatchObject({ request: null, notice: null, beat: null, seq: 0 })
    const response = encodeMessage({ response: { request_id: "1", payload: {} as typeof payload } })
    expect(decodeMessage(response).response?.payload?.data).toEqual(Buffer.alloc(0))
  })

  it("keeps a map's hostile names as plain data", () => {
    const metadata = JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>
    const read = decodeMessage(encodeMessage({ request: { request_id: "1", metadata } })).request?.metadata
    expect(Object.entries(read ?? {})).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ])
  })

  it("gives one kind of error for whatever bytes", () => {
    const known = Object.values(AUTOGEN_BYTES).map((hex) => Buffer.from(hex, "hex"))
    const hostile = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.tuple(fc.constantFrom(...known), fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => {
        const changed = Buffer.from(bytes)
        changed[at % changed.length] = byte
        return changed
      }),
      fc
        .tuple(fc.constantFrom(...known), fc.nat())
        .map(([bytes, at]) => bytes.subarray(0, at % bytes.length)),
    )
    fc.assert(
      fc.property(hostile, (bytes) => {
        for (const codec of [{ decode: decodeMessage }, { decode: decodeAny }, CODECS.controlMessage]) {
          try {
            codec.decode(bytes)
          } catch (error) {
            if (!GloveboxError.is(error, "SERIALIZATION_FAILED")) throw error
          }
        }
      }),
      { seed: 9, numRuns: 300 },
    )
  })

  it("refuses a message that nests without end, and lengths beyond the bytes", () => {
    let nested: Buffer = Buffer.alloc(0)
    for (let depth = 0; depth < 5000; depth++) {
      nested = Buffer.concat([Buffer.from([0xc2, 0x06]), varint(nested.length), nested])
    }
    expect(failureOf(() => decodeMessage(nested))).toMatch(
      /^SERIALIZATION_FAILED: \d+ bytes are no agents.Message/,
    )
    const huge = Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])
    expect(failureOf(() => decodeMessage(huge))).toMatch(/^SERIALIZATION_FAILED/)
  })

  it("refuses to write what does not fit", () => {
    const wrong = { request: { request_id: Symbol("no") } } as object
    expect(failureOf(() => encodeMessage(wrong))).toMatch(/^SERIALIZATION_FAILED: A value cannot be written/)
    expect(decodeAny(encodeAny({ type_url: "a", value: Buffer.from([1]) }))).toMatchObject({ type_url: "a" })
  })
})

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}
