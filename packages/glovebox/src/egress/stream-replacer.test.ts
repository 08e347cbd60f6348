import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { SecretFinder } from "./secret-finder.ts"
import { secretForms } from "./secret-forms.ts"
import { StreamReplacer } from "./stream-replacer.ts"

// With what is the beginning of other letters, and with itself in itself.
const VALUE = "aab%aab&aa%25aa+%"
const PLACEHOLDER = "gbx_1234567890123"
const FORMS = secretForms(VALUE, PLACEHOLDER)

function replaced(bytes: Buffer, cuts: readonly number[]): Buffer {
  const replacer = new StreamReplacer(new SecretFinder(FORMS))
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b)
  const pieces = [0, ...places].map((from, at) => bytes.subarray(from, places[at] ?? bytes.length))
  return Buffer.concat([...pieces.map((piece) => replacer.push(piece)), replacer.end()])
}

describe("StreamReplacer", () => {
  // Each letter in any of its ways.
  const form = fc
    .constantFrom(...FORMS)
    .chain(({ letters }) => fc.tuple(...letters.map((ways) => fc.constantFrom(...ways))))
    .map((letters) => Buffer.from(letters.join(""), "latin1"))
  // Beginnings of the value beside it, and bytes of any kind.
  const part = fc.oneof(
    fc.constant(Buffer.from(VALUE)),
    fc.nat(VALUE.length).map((length) => Buffer.from(VALUE.slice(0, length))),
    fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
    form,
    form.chain((bytes) => fc.nat(bytes.length).map((length) => bytes.subarray(0, length))),
  )

  it("says the same wherever the stream is cut, as long as it was, and never the value", () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.array(fc.nat()), (parts, cuts) => {
        const bytes = Buffer.concat(parts)
        const whole = replaced(bytes, [])
        expect(replaced(bytes, cuts).equals(whole)).toBe(true)
        expect(whole.length).toBe(bytes.length)
        for (const secret of [VALUE, encodeURIComponent(VALUE), VALUE.split("").join("\0")])
          expect(whole.includes(secret)).toBe(false)
      }),
      { numRuns: 100 },
    )
  })

  it("finds a value within base64, whatever stands around it", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 7 }), fc.uint8Array({ maxLength: 7 }), (before, after) => {
        const text = Buffer.concat([before, Buffer.from(VALUE), after]).toString("base64")
        const got = Buffer.from(replaced(Buffer.from(text), []).toString(), "base64")
        expect(got.includes(VALUE.slice(1, -1))).toBe(false)
        expect(got.length).toBe(before.length + VALUE.length + after.length)
      }),
    )
  })
})
