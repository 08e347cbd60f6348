import { describe, expect, it } from "vitest"
import { retryAfterMs } from "./retry-after.ts"

describe("retryAfterMs", () => {
  const now = Date.parse("2026-01-01T00:00:00Z")

  it.each([
    [{ "retry-after": "2" }, 2000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:07 GMT" }, 7000],
    [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
    [{ "retry-after": "9", "retry-after-ms": "15" }, 15],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-1" }, undefined],
    [{}, undefined],
  ])("reads %j as %s", (headers, expected) => {
    expect(retryAfterMs(new Headers(headers as Record<string, string>), now)).toBe(expected)
  })
})
