import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { formatBytes, formatDuration, parseBytes, parseDuration } from "./units.ts"

describe("parseBytes", () => {
  it.each([
    ["512MiB", 512 * 1024 ** 2],
    ["512m", 512 * 1024 ** 2],
    ["1.5 GiB", 1.5 * 1024 ** 3],
    ["1GB", 1_000_000_000],
    ["0b", 0],
    [4096, 4096],
  ])("reads %j", (text, bytes) => {
    expect(parseBytes(text)).toBe(bytes)
  })

  it.each([
    "",
    "512",
    "MiB",
    "-1MiB",
    "1e3k",
    "1 2k",
    "1parsec",
    "5constructor",
    Number.NaN,
    1.5,
    Infinity,
    "1".repeat(400) + "g",
  ])("does not read %j", (text) => {
    expect(parseBytes(text)).toBeUndefined()
  })
})

describe("parseDuration", () => {
  it.each([
    ["60s", 60_000],
    ["1.5s", 1500],
    ["250ms", 250],
    ["2m", 120_000],
    ["1h", 3_600_000],
    [1000, 1000],
  ])("reads %j", (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it("does not read sizes", () => {
    expect(parseDuration("5MiB")).toBeUndefined()
  })
})

describe("formatBytes and formatDuration", () => {
  it("write what is read back as the same", () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 40 }), (value) => {
        expect(parseBytes(formatBytes(value))).toBe(value)
        expect(parseDuration(formatDuration(value))).toBe(value)
      }),
    )
    expect([formatBytes(512 * 1024 ** 2), formatBytes(1000), formatDuration(90_000)]).toEqual([
      "512MiB",
      "1000B",
      "90s",
    ])
  })
})
