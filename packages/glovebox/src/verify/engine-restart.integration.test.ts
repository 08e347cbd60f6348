import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { SecondEngine } from "../executors/docker/fleet/second-engine.test-kit.ts"
import { DockerCommandLineCodeExecutor } from "../executors/docker/index.ts"
import { HAS_NO_DOCKER, POLICY, surprises } from "./verify.test-kit.ts"
import { verify } from "./verify.ts"

const isRoot = process.getuid?.() === 0
const HELLO = [{ language: "python", code: `print("ran")` }]

describe.skipIf(HAS_NO_DOCKER || !isRoot)("after an engine was killed and started again (needs root)", () => {
  let engine: SecondEngine

  beforeAll(async () => {
    engine = await SecondEngine.open()
  })
  afterAll(async () => engine.close())

  it("an executor with verify: claim gives no sandbox from before, and new ones are as promised", async () => {
    const dockerHost = engine.address
    await using executor = new DockerCommandLineCodeExecutor({
      policy: POLICY,
      dockerHost,
      pool: { size: 1 },
      verify: "claim",
    })
    const before = await executor.executeCodeBlocks(HELLO)
    expect(before.stdout).toBe("ran\n")
    await engine.signal("SIGKILL")
    const code: unknown = expect.stringMatching(/^(ENGINE_UNAVAILABLE|SANDBOX_LOST)$/)
    await expect(executor.executeCodeBlocks(HELLO)).rejects.toMatchObject({ code })
    await engine.start()
    const after = await executor.executeCodeBlocks(HELLO)
    expect(after.stdout).toBe("ran\n")
    expect(after.sandbox.containerId).not.toBe(before.sandbox.containerId)
    for (const path of ["cold", "pooled", "session"] as const) {
      const report = await verify(POLICY, { mode: "quick", path, dockerHost })
      expect(surprises(report)).toEqual([])
      expect([report.pass, report.path]).toEqual([true, path])
    }
  })
})
