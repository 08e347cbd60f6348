import { describe, expect, it } from "vitest"
import { linkTimes } from "./link-times.ts"

describe("the times of a host's links", () => {
  it.each([
    [{}, { graceMs: 5000, heartbeatMs: 1000 }],
    [{ grace: 60_000 }, { graceMs: 60_000, heartbeatMs: 1000 }],
    [{ grace: 1000 }, { graceMs: 1000, heartbeatMs: 200 }],
    [
      { grace: 900, heartbeat: 300 },
      { graceMs: 900, heartbeatMs: 300 },
    ],
  ])("%j", (given, times) => {
    expect(linkTimes(given)).toEqual(times)
  })

  it.each([{ grace: 1000, heartbeat: 400 }, { heartbeat: 2000 }])(
    "%j would lose every worker, and is refused",
    (given) => {
      expect(() => linkTimes(given)).toThrow(/--grace \d+s is too short for --heartbeat/)
    },
  )
})
