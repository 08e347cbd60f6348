import { describe, expect, it } from "vitest"
import { HAS_NO_DOCKER, surprises } from "./verify.test-kit.ts"
import { verify } from "./verify.ts"

describe.skipIf(HAS_NO_DOCKER)("verify, with a Jupyter kernel", () => {
  it("shows the quick probes as expected in the container of a kernel", async () => {
    const report = await verify({ runtime: "runc" }, { sandbox: "jupyter", mode: "quick" })
    expect(surprises(report)).toEqual([])
    expect(report).toMatchObject({ pass: true, sandbox: "jupyter", path: "session" })
    expect(report.probes.length).toBeGreaterThanOrEqual(35)
  })
})
