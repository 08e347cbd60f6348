import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { continuationStart, incompleteEnd } from "./utf8-boundary.ts"

describe("incompleteEnd", () => {
  it.each([
    [[], 0],
    [[0x61], 0],
    [[0xc3], 1],
    [[0xc3, 0xa9], 0],
    [[0xe2], 1],
    [[0x61, 0xe2, 0x82], 2],
    [[0xe2, 0x82, 0xac], 0],
    [[0xf0, 0x9f, 0x98], 3],
    [[0xf0, 0x9f, 0x98, 0x80], 0],
    [[0x80], 0],
    [[0xc3, 0x80, 0x80], 0],
    [[0x80, 0x80, 0x80, 0x80], 0],
    [[0xc0], 0],
    [[0xf5], 0],
    [[0xff], 0],
  ])("of %j is %i", (bytes, count) => {
    expect(incompleteEnd(Uint8Array.from(bytes))).toBe(count)
  })
})

describe("both", () => {
  it("tell where a text was cut", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(), (text, place) => {
        const bytes = Buffer.from(text)
        const cut = bytes.length === 0 ? 0 : place % bytes.length
        const before = bytes.subarray(0, cut)
        const after = bytes.subarray(cut)
        const head = before.subarray(0, before.length - incompleteEnd(before)).toString("utf8")
        const tail = after.subarray(continuationStart(after)).toString("utf8")
        expect(text.startsWith(head)).toBe(true)
        expect(text.endsWith(tail)).toBe(true)
        expect(Buffer.byteLength(head + tail)).toBeGreaterThan(bytes.length - 5)
      }),
    )
  })
})
