import { describe, expect, it } from "vitest"
import { isShallow } from "./json-depth.ts"

const check = (json: string, depth: number): boolean => isShallow(Buffer.from(json), depth)

describe("isShallow", () => {
  it("counts brackets, and not those in text", () => {
    expect(check("[[]]", 2)).toBe(true)
    expect(check("[[[]]]", 2)).toBe(false)
    expect(check('{"a":[{}],"b":[{}]}', 3)).toBe(true)
    expect(check('{"a":[{"b":1}]}', 2)).toBe(false)
    expect(check(String.raw`["[[[[", "\"[[[", "\\", "]"]`, 1)).toBe(true)
    expect(check(String.raw`["\\", [[1]]]`, 2)).toBe(false)
  })

  it("is quick with what is very deep or never closed", () => {
    expect(check("[".repeat(10_000_000), 64)).toBe(false)
    expect(check(`"${"[".repeat(1_000_000)}`, 1)).toBe(true)
  })
})
