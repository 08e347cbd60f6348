import { describe, expect, it } from "vitest"
import { isSimple } from "./json-shape.ts"

const check = (json: string, maxDepth: number, maxValues = 100): boolean =>
  isSimple(Buffer.from(json), { maxDepth, maxValues })

describe("isSimple", () => {
  it("counts brackets, and not those in text", () => {
    expect(check("[[]]", 2)).toBe(true)
    expect(check("[[[]]]", 2)).toBe(false)
    expect(check('{"a":[{}],"b":[{}]}', 3)).toBe(true)
    expect(check('{"a":[{"b":1}]}', 2)).toBe(false)
    expect(check(String.raw`["[[[[", "\"[[[", "\\", "]"]`, 1)).toBe(true)
    expect(check(String.raw`["\\", [[1]]]`, 2)).toBe(false)
  })

  it("counts values and members, and not the commas of text", () => {
    expect(check("[1,2,3]", 1, 3)).toBe(true)
    expect(check("[1,2,3,4]", 1, 3)).toBe(false)
    expect(check('{"a":[],"b":[]}', 2, 3)).toBe(false)
    expect(check(`["${",".repeat(1000)}"]`, 1, 3)).toBe(true)
  })

  it("is quick with what is very deep or never closed", () => {
    expect(check("[".repeat(10_000_000), 64)).toBe(false)
    expect(check(`"${"[".repeat(1_000_000)}`, 1)).toBe(true)
  })
})
