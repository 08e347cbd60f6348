import { describe, expect, it } from "vitest"
import { brokenControls, surprises } from "./verify.test-kit.ts"
import { verify } from "./verify.ts"

describe("verify, with the embedded sandbox", () => {
  it("shows every probe as expected, and that every one of them can fail", async () => {
    const report = await verify({}, { sandbox: "wasm", mode: "full" })
    expect(surprises(report)).toEqual([])
    expect(brokenControls(report)).toEqual([])
    expect(report).toMatchObject({ pass: true, sandbox: "wasm", path: "cold", imageDigest: undefined })
    expect(report.probes.length).toBeGreaterThanOrEqual(20)
  })

  it("shows the quick ones as expected in processes of the pool, and of a session that keeps its state", async () => {
    const pooled = await verify({}, { sandbox: "wasm", mode: "quick", path: "pooled" })
    expect(surprises(pooled)).toEqual([])
    const session = await verify({}, { sandbox: "wasm", mode: "quick", path: "session" })
    expect(surprises(session)).toEqual([])
    expect(session.probes.find(({ id }) => id === "wasm.state")).toMatchObject({ expected: "ALLOWED" })
  })

  it("refuses a policy that this sandbox cannot enforce", async () => {
    const verifying = verify({ limits: { cpus: 0.5 } }, { sandbox: "wasm" })
    await expect(verifying).rejects.toMatchObject({ code: "SANDBOX_UNENFORCEABLE" })
  })
})
