import fc from "fast-check"
import { describe, expect, expectTypeOf, it } from "vitest"
import { z } from "zod"
import { failureOf } from "./failure-of.test-kit.ts"
import { GloveboxError } from "./glovebox-error.ts"
import { JSON_CONTENT_TYPE } from "./json-serializer.ts"
import { type Message, defineMessage } from "./message.ts"
import type { MessageSerializer, Payload } from "./message-serializer.ts"
import { SerializationRegistry } from "./serialization.ts"
import { UnknownPayload } from "./unknown-payload.ts"

const Ping = defineMessage("Ping", z.object({ text: z.string(), count: z.number().default(1) }))
const Any = defineMessage("Any", z.object({ value: z.unknown() }))

function registry(): SerializationRegistry {
  const made = new SerializationRegistry()
  made.addType(Ping)
  made.addType(Any)
  return made
}

function json(typeName: string, text: string): Payload {
  return { typeName, contentType: JSON_CONTENT_TYPE, data: new TextEncoder().encode(text) }
}

const textOf = ({ data }: Payload): string => new TextDecoder().decode(data)

/** Writes Ping as its bare text. */
function plainText(contentType = "text/plain"): MessageSerializer {
  return {
    typeName: "Ping",
    contentType,
    serialize: (message) => new TextEncoder().encode(Ping.parse(message).text),
    deserialize: (data) => Ping({ text: new TextDecoder().decode(data), count: 2 }),
  }
}

describe("SerializationRegistry writes and reads", () => {
  it("a message as its fields in JSON, and gives back an equal one of the same type", () => {
    const payload = registry().serialize(Ping({ text: "hé" }))
    expect(payload).toMatchObject({ typeName: "Ping", contentType: "application/json" })
    expect(textOf(payload)).toBe('{"text":"hé","count":1}')
    const read = registry().deserialize(payload)
    expect(read).toEqual(Ping({ text: "hé" }))
    expect(Ping.is(read)).toBe(true)
    expectTypeOf(read).toEqualTypeOf<Message>()
  })

  it("every JSON value, unchanged, also with half a surrogate pair", () => {
    const both = registry()
    const stringUnit = fc.constantFrom(
      "a",
      '"',
      "\\",
      "\n",
      "\u0000",
      "\u2028",
      "é",
      "🙂",
      "\ud800",
      "\udc00",
    )
    const value = fc.jsonValue({ stringUnit, maxDepth: 2 })
    fc.assert(
      fc.property(value, (value) => {
        const message = Any({ value: JSON.parse(JSON.stringify(value)) as unknown })
        expect(both.deserialize(both.serialize(message))).toEqual(message)
      }),
    )
  })

  it("the schema's defaults where the sender left a field out", () => {
    expect(registry().deserialize(json("Ping", '{"text":""}'))).toEqual(Ping({ text: "", count: 1 }))
  })

  it("another content type beside JSON", () => {
    const both = registry()
    both.add(plainText())
    const payload = both.serialize(Ping({ text: "hi" }), "text/plain")
    expect(textOf(payload)).toBe("hi")
    expect(both.deserialize(payload)).toEqual(Ping({ text: "hi", count: 2 }))
    expect(textOf(both.serialize(Ping({ text: "hi" })))).toContain("{")
  })

  it("a special JSON form in place of the usual, also when the type is added after it", () => {
    const special = new SerializationRegistry()
    special.add(plainText(JSON_CONTENT_TYPE))
    special.addType(Ping)
    expect(textOf(special.serialize(Ping({ text: "hi" })))).toBe("hi")
  })

  it("keys __proto__ and constructor without harm", () => {
    const read = registry().deserialize(
      json("Any", '{"__proto__":{"admin":true},"value":{"__proto__":{"admin":true},"constructor":1}}'),
    ) as ReturnType<typeof Any>
    expect(Any.is(read)).toBe(true)
    expect(read).not.toHaveProperty("admin")
    expect(read.value).not.toHaveProperty("admin")
    expect({}).not.toHaveProperty("admin")
    expect(textOf(registry().serialize(read))).toBe('{"value":{"__proto__":{"admin":true},"constructor":1}}')
  })
})

describe("SerializationRegistry refuses to write", () => {
  const ring: unknown[] = []
  ring.push(ring)
  let deep: unknown = 0
  for (let level = 0; level < 100_000; level += 1) deep = [deep]

  it.each([
    ["NaN", Number.NaN],
    ["a bigint", 1n],
    ["a Date", new Date(0)],
    ["a Map", new Map()],
    ["bytes", new Uint8Array(1)],
    ["a cycle", ring],
    ["an undefined item", [undefined]],
    ["a function", () => {}],
    ["very deep nesting", deep],
  ])("%s", (_, value) => {
    expect(failureOf(() => registry().serialize(Any({ value })))).toMatch(
      /^SERIALIZATION_FAILED: Message Any cannot be written as application\/json: value/,
    )
  })

  it("what is not a message", () => {
    for (const value of [undefined, null, "Ping", {}, { text: "hi" }, Ping]) {
      expect(failureOf(() => registry().serialize(value as never))).toMatch(/^MESSAGE_INVALID/)
    }
  })

  it("a type or content type it does not know, and lists those it does", () => {
    const Pong = defineMessage("Pong", z.object({}))
    expect(failureOf(() => registry().serialize(Pong({})))).toMatch(
      /^SERIALIZER_UNKNOWN: Nothing writes message Pong as application\/json\. .*Known: Ping, Any\./,
    )
    expect(failureOf(() => registry().serialize(Ping({ text: "" }), "text/x"))).toMatch(
      /^SERIALIZER_UNKNOWN: Nothing writes message Ping as text\/x/,
    )
    expect(failureOf(() => new SerializationRegistry().serialize(Pong({})))).toContain("Known: none")
  })

  it("a message of another definition of the same name", () => {
    const Twin = defineMessage("Ping", z.object({ other: z.string() }))
    expect(failureOf(() => registry().serialize(Twin({ other: "" })))).toMatch(
      /^SERIALIZATION_FAILED: .*another definition/,
    )
  })

  it("what a serializer gives that is not bytes", () => {
    const broken = new SerializationRegistry()
    broken.add({ ...plainText(), serialize: () => "text" as never })
    expect(failureOf(() => broken.serialize(Ping({ text: "" }), "text/plain"))).toMatch(
      /^SERIALIZATION_FAILED: .*gave "text", not bytes/,
    )
  })
})

describe("SerializationRegistry refuses to read", () => {
  it.each([
    ["text that is not JSON", "{text:"],
    ["nothing", ""],
    ["JSON of another shape", '{"text":1}'],
    ["JSON that is not an object", "null"],
    ["two documents", '{"text":""}{"text":""}'],
  ])("%s", (_, text) => {
    expect(failureOf(() => registry().deserialize(json("Ping", text)))).toMatch(
      new RegExp(`^SERIALIZATION_FAILED: ${text.length} bytes of application/json are not a message Ping: .`),
    )
  })

  it("invalid UTF-8, rather than put a replacement character", () => {
    const data = new Uint8Array([...new TextEncoder().encode('{"text":"'), 0xff, 0x22, 0x7d])
    expect(failureOf(() => registry().deserialize({ ...json("Ping", ""), data }))).toMatch(
      /^SERIALIZATION_FAILED/,
    )
  })

  it("nesting that it could not write again", () => {
    const text = `{"value":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
    expect(failureOf(() => registry().deserialize(json("Any", text)))).toMatch(
      /^SERIALIZATION_FAILED: .*too deep/,
    )
  })

  it("what is not a payload", () => {
    const odd = [
      undefined,
      null,
      "Ping",
      {},
      { ...json("Ping", "{}"), data: "{}" },
      { ...json("Ping", ""), typeName: 1 },
    ]
    for (const value of odd) {
      expect(failureOf(() => registry().deserialize(value as never))).toMatch(
        /^SERIALIZATION_FAILED: A payload is/,
      )
    }
  })

  it("what a serializer gives that is not a message", () => {
    const broken = new SerializationRegistry()
    broken.add({ ...plainText(), deserialize: () => ({ text: "" }) as never })
    const payload = { ...json("Ping", ""), contentType: "text/plain" }
    expect(failureOf(() => broken.deserialize(payload))).toMatch(/^SERIALIZATION_FAILED: .*not a message/)
  })

  it("and keeps the cause", () => {
    expect(() => registry().deserialize(json("Ping", '{"text":1}'))).toThrow(
      expect.objectContaining({ cause: expect.any(GloveboxError) }),
    )
  })
})

describe("SerializationRegistry keeps what it does not know", () => {
  it.each([
    ["a type", { typeName: "Alien", contentType: "application/json" }],
    ["a content type", { typeName: "Ping", contentType: "application/x-protobuf" }],
    ["a type named like its own wrapper", { typeName: "UnknownPayload", contentType: "application/json" }],
    ["a name from every object", { typeName: "constructor", contentType: "__proto__" }],
  ])("%s, and writes the same bytes again", (_, names) => {
    fc.assert(
      fc.property(fc.uint8Array(), (data) => {
        const read = registry().deserialize({ ...names, data })
        expect(UnknownPayload.is(read)).toBe(true)
        expect(registry().serialize(read)).toEqual({ ...names, data })
        expect(registry().serialize(read, "text/plain")).toEqual({ ...names, data })
      }),
      { numRuns: 20 },
    )
  })

  it("by a copy, so that a buffer may be used again", () => {
    const buffer = Buffer.from("bytes")
    const read = registry().deserialize({ typeName: "Alien", contentType: "x", data: buffer })
    buffer.fill(0)
    expect(textOf(registry().serialize(read))).toBe("bytes")
  })
})

describe("SerializationRegistry adds", () => {
  it("a type twice without effect", () => {
    const twice = registry()
    twice.addType(Ping)
    expect(twice.has("Ping")).toBe(true)
    expect(twice.has("Ping", "text/plain")).toBe(false)
    expect(twice.has("Pong")).toBe(false)
  })

  it("no second definition of a name, and no second serializer of a form", () => {
    const Twin = defineMessage("Ping", Ping.schema)
    expect(failureOf(() => registry().addType(Twin))).toMatch(
      /^SERIALIZER_ALREADY_REGISTERED: .*"Ping".* twice/,
    )
    expect(failureOf(() => registry().add(plainText(JSON_CONTENT_TYPE)))).toMatch(
      /^SERIALIZER_ALREADY_REGISTERED: .*application\/json serializer of "Ping"/,
    )
  })

  it.each([undefined, null, "Ping", {}, Ping({ text: "" })])(
    "no %o, which is not a message type",
    (value) => {
      expect(failureOf(() => registry().addType(value as never))).toMatch(
        /^MESSAGE_INVALID: .* not a message type/,
      )
    },
  )
})
