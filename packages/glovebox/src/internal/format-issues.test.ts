import { describe, expect, it } from "vitest"
import { z } from "zod"
import { formatIssues } from "./format-issues.ts"

describe("formatIssues", () => {
  it("names the path of each issue, in either form of the specification", () => {
    expect(
      formatIssues([
        { message: "whole" },
        { message: "empty", path: [] },
        { message: "first", path: ["a", 0, "b"] },
        { message: "second", path: [{ key: "c" }, { key: 1 }, Symbol("d")] },
      ]),
    ).toBe("whole; empty; a.0.b: first; c.1.Symbol(d): second")
  })

  it("reads zod's issues", () => {
    const { error } = z.object({ list: z.array(z.string()) }).safeParse({ list: ["a", 1] })
    expect(formatIssues(error?.issues ?? [])).toMatch(/^list\.1: .*expected string/)
  })

  it("shows ten issues at most, and counts the others", () => {
    const issues = Array.from({ length: 12 }, (_, index) => ({ message: `m${index}` }))
    expect(formatIssues(issues)).toMatch(/; m9; and 2 more$/)
    expect(formatIssues(issues.slice(0, 10))).toMatch(/; m9$/)
  })
})
