import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { StreamText } from "./stream-text.ts"

describe("StreamText", () => {
  it("gives a character when it is whole", () => {
    const text = new StreamText()
    const bytes = [...Buffer.from("😀")]
    expect(bytes.map((byte) => text.push(Buffer.of(byte)))).toEqual(["", "", "", "😀"])
    expect(text.end()).toBe("")
  })

  it("gives U+FFFD at the end for one that never became whole, and keeps a byte order mark", () => {
    const text = new StreamText()
    expect(text.push(Buffer.from("\uFEFFa"))).toBe("\uFEFFa")
    expect(text.push(Buffer.of(0x62, 0xe2, 0x82))).toBe("b")
    expect(text.end()).toBe("\uFFFD")
  })

  it("decodes any bytes as if they came at once", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 5 })), (chunks) => {
        const text = new StreamText()
        const pieces = chunks.map((chunk) => text.push(chunk))
        expect(pieces.join("") + text.end()).toBe(Buffer.concat(chunks).toString("utf8"))
      }),
    )
  })
})
