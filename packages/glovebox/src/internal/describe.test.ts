import { describe, expect, it } from "vitest"
import { describe as describeValue, shorten } from "./describe.ts"

const ring: Record<string, unknown> = {}
ring["self"] = ring

class Point {
  readonly x = 1
}

class Anonymous {
  static readonly name = ""
  readonly x = 1
}

describe("describe()", () => {
  it.each<[unknown, string]>([
    ["text", '"text"'],
    ["two\nlines", String.raw`"two\nlines"`],
    ["\ud800", String.raw`"\ud800"`],
    [undefined, "undefined"],
    [null, "null"],
    [Number.NaN, "NaN"],
    [10n, "10"],
    [true, "true"],
    [Symbol("s"), "Symbol(s)"],
    [() => {}, "a function"],
    [Point, "function Point"],
    [{ a: [1, "b"] }, '{"a":[1,"b"]}'],
    [[], "[]"],
    [Object.create(null), "{}"],
    [new Map([[1, 2]]), "a Map"],
    [new Error("x"), "an Error"],
    [new Uint8Array(100), "a Uint8Array"],
    [new Point(), "a Point"],
    [new Anonymous(), '{"x":1}'],
    [{ toJSON: () => undefined }, "an object"],
  ])("shows %o as %s", (value, text) => {
    expect(describeValue(value)).toBe(text)
  })

  it.each([
    ["a cycle", ring],
    ["a bigint inside", { a: 1n }],
    [
      "a getter that throws",
      {
        get a(): never {
          throw new Error("x")
        },
      },
    ],
    [
      "an object whose class is hidden",
      Object.assign(Object.create(new Point()) as object, { constructor: null }),
    ],
    [
      "a proxy that throws",
      new Proxy(
        {},
        {
          getPrototypeOf: () => {
            throw new Error("x")
          },
        },
      ),
    ],
    ["a function with an odd name", Object.defineProperty(() => {}, "name", { value: Symbol("x") })],
  ])("does not throw for %s", (_, value) => {
    expect(describeValue(value)).toMatch(/^(an object|a function) that cannot be shown$/)
  })

  it("cuts what is long, and no character in two", () => {
    expect(describeValue("x".repeat(1_000_000))).toBe(`"${"x".repeat(78)}…`)
    expect(describeValue({ a: "x".repeat(1000) })).toHaveLength(80)
    for (const lead of ["", "x"]) expect(describeValue(lead + "🙂".repeat(100))).not.toMatch(/\p{Cs}/u)
  })
})

describe("shorten", () => {
  it("leaves 80 characters as they are, and cuts the 81st", () => {
    expect(shorten("x".repeat(80))).toBe("x".repeat(80))
    expect(shorten("x".repeat(81))).toBe(`${"x".repeat(79)}…`)
  })
})
