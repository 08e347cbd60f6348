import { describe, expect, it } from "vitest"
import { surprises } from "./verify.test-kit.ts"
import { verify } from "./verify.ts"

describe("verify, with bubblewrap", () => {
  it("shows every probe as expected", async () => {
    const report = await verify({}, { sandbox: "bubblewrap" })
    expect(surprises(report)).toEqual([])
    expect(report).toMatchObject({ pass: true, sandbox: "bubblewrap", path: "cold" })
    expect(report.probes.length).toBeGreaterThanOrEqual(80)
  })

  it("shows the quick ones as expected in sandboxes of the pool and of a session", async () => {
    for (const path of ["pooled", "session"] as const) {
      const report = await verify({}, { sandbox: "bubblewrap", mode: "quick", path })
      expect(surprises(report)).toEqual([])
    }
  })
})
