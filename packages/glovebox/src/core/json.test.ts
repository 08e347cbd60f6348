import fc from "fast-check"
import { describe, expect, expectTypeOf, it } from "vitest"
import { z } from "zod"
import { type JsonObject, type JsonValue, checkJson } from "./json.ts"
import { defineMessage } from "./message.ts"

class Point {
  readonly x = 1
}

const self: unknown[] = []
self.push(self)
const ring: Record<string, unknown> = {}
ring["next"] = { ring }

describe("checkJson", () => {
  it("takes what JSON gives back unchanged, whatever it is", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(() => checkJson(value)).not.toThrow()
      }),
    )
    expectTypeOf<{ a: number[]; b: null }>().toExtend<JsonValue>()
    expectTypeOf<JsonObject>().toExtend<JsonValue>()
    expectTypeOf<Date>().not.toExtend<JsonValue>()
  })

  it("takes nothing that JSON would change", () => {
    // Beside -0, which JSON writes as 0.
    const number = fc.double().map((value) => value + 0)
    const anything = fc.anything({
      values: [fc.string(), fc.boolean(), number, fc.constantFrom(null, undefined)],
      maxDepth: 3,
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
    })
    fc.assert(
      fc.property(anything.filter(isTaken), (value) => {
        expect(JSON.parse(JSON.stringify(value))).toEqual(value)
      }),
    )
  })

  it("takes absent optional fields, objects without a prototype, and messages inside", () => {
    const Ping = defineMessage("Ping", z.object({ text: z.string() }))
    const bare = Object.assign(Object.create(null) as object, { a: 1 })
    expect(() => checkJson({ absent: undefined, bare, messages: [Ping({ text: "" })] })).not.toThrow()
    expect(() => checkJson({ constructor: 1, toJSON: "text", ["__proto__"]: {} })).not.toThrow()
  })

  it.each([
    ["NaN", Number.NaN, /^a\.b\[1\] is NaN, which JSON cannot hold$/],
    ["Infinity", -Infinity, /is -Infinity/],
    ["a bigint", 1n, /is 1,/],
    ["a function", () => 1, /is a function/],
    ["a symbol", Symbol("s"), /is Symbol\(s\)/],
    ["undefined in an array", undefined, /is undefined/],
    ["a Date", new Date(0), /is a Date/],
    ["a Map", new Map([[1, 2]]), /is a Map/],
    ["a Set", new Set([1]), /is a Set/],
    ["a RegExp", /x/, /is a RegExp/],
    ["an Error", new Error("x"), /is an Error/],
    ["a Promise", Promise.resolve(1), /is a Promise/],
    ["bytes", new Uint8Array(2), /is a Uint8Array/],
    ["a Buffer", Buffer.from("x"), /is a Buffer/],
    ["an ArrayBuffer", new ArrayBuffer(2), /is an ArrayBuffer/],
    ["a URL", new URL("https://example.org"), /is a URL/],
    ["a boxed string", new String("x"), /is a String/],
    ["an object of a class", new Point(), /is a Point/],
    ["an object that says how to be written", { toJSON: () => 1 }, /^a\.b\[1\] has a toJSON method/],
  ])("refuses %s, and names the path", (_, value, message) => {
    expect(() => checkJson({ a: { b: [0, value] } })).toThrow(message)
    expect(() => checkJson({ a: { b: [0, value] } })).toThrow(/^a\.b\[1\] /)
  })

  it("refuses a hole in an array", () => {
    const holes: unknown[] = [1]
    holes[2] = 3
    expect(() => checkJson(holes)).toThrow("[1] is undefined")
  })

  it("calls the whole value by that name", () => {
    expect(() => checkJson(undefined)).toThrow("the value is undefined")
    expect(() => checkJson(new Map())).toThrow("the value is a Map")
  })

  it.each([
    ["an array", self],
    ["an object", ring],
  ])("refuses %s that holds itself, in few words", (_, value) => {
    expect(() => checkJson(value)).toThrow(/nested too deep, or holds itself$/)
    expect(() => checkJson(value)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{0,150}$/) }),
    )
  })

  it("takes 500 levels and refuses more, without exhausting the stack", () => {
    expect(() => checkJson(nested(500))).not.toThrow()
    expect(() => checkJson(nested(501))).toThrow("nested too deep")
    expect(() => checkJson(nested(200_000))).toThrow("nested too deep")
  })

  it("takes one object in two places, which is not a cycle", () => {
    const shared = { a: 1 }
    expect(() => checkJson([shared, shared])).not.toThrow()
  })
})

function isTaken(value: unknown): boolean {
  try {
    checkJson(value)
    return true
  } catch {
    return false
  }
}

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value }
  return value
}
