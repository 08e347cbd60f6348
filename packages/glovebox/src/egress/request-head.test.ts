import { describe, expect, it } from "vitest"
import { parseRequestHead } from "./request-head.ts"

const head = (...lines: string[]): Buffer =>
  Buffer.from(["GET / HTTP/1.1", ...lines, "", ""].join("\r\n"), "latin1")

describe("parseRequestHead", () => {
  it.each([
    ["X: a", "a"],
    ["X:a", "a"],
    ["X: \t a \t b \t ", "a \t b"],
    ["X:", ""],
    ["X: \t ", ""],
    ["X: :a:", ":a:"],
  ])("reads the value of %j", (line, value) => {
    expect(parseRequestHead(head(line)).fields).toEqual([{ name: "X", key: "x", value }])
  })

  it.each(["", " X: a", "X : a", ": a", "X", "X Y: a", "\tX: a"])("refuses the line %j", (line) => {
    expect(() => parseRequestHead(head("A: b", line, "C: d"))).toThrow("is no header")
  })

  it("reads blanks within a value as fast as letters", () => {
    const cost = (value: string): number => {
      const bytes = head(`X: a${value}b`)
      const costs = Array.from({ length: 5 }, () => {
        const startedAt = performance.now()
        parseRequestHead(bytes)
        return performance.now() - startedAt
      })
      return Math.min(...costs)
    }
    // Twice as long would be little; looking at each blank once more for each blank is thousands of times as long.
    expect(cost(" ".repeat(32_000)) / cost("x".repeat(32_000))).toBeLessThan(500)
  })
})
