import { describe, expect, it } from "vitest"
import { readTime } from "./read-time.ts"

const now = Date.UTC(2030, 0, 2)

describe("readTime", () => {
  it.each([
    ["2h", Date.UTC(2030, 0, 1, 22)],
    ["1w", Date.UTC(2029, 11, 26)],
    ["2030-01-01", Date.UTC(2030, 0, 1)],
    ["2030-01-01T10:30", Date.UTC(2030, 0, 1, 10, 30)],
    ["2030-01-01 10:30:01.5", Date.UTC(2030, 0, 1, 10, 30, 1, 500)],
    ["2030-01-01T10:30:00+02:00", Date.UTC(2030, 0, 1, 8, 30)],
  ])("reads %s, in UTC unless it names a zone", (text, time) => {
    expect(readTime("--since", text, { now })).toBe(time)
  })

  it("takes a day to its end for --until", () => {
    expect(readTime("--until", "2030-01-01")).toBe(Date.UTC(2030, 0, 2) - 1)
  })

  it.each(["soon", "", "2030", "2030-13-01", "-2h", "2y", "2030-01-01T10"])("refuses %j", (text) => {
    expect(() => readTime("--since", text)).toThrow(expect.objectContaining({ exitCode: 2 }))
  })
})
