import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DockerCommandLineCodeExecutor } from "../executors/docker/index.ts"
import { HAS_NO_DOCKER, POLICY, surprises } from "./verify.test-kit.ts"
import { verify } from "./verify.ts"

const run = promisify(execFile)
const SCRIPT = fileURLToPath(new URL("../../../../scripts/engine", import.meta.url))
const isRoot = process.getuid?.() === 0
const HELLO = [{ language: "python", code: `print("ran")` }]

describe.skipIf(HAS_NO_DOCKER || !isRoot)("after an engine was killed and started again (needs root)", () => {
  let folder = ""
  let env: NodeJS.ProcessEnv = {}
  const engine = async (...args: string[]): Promise<unknown> => run(SCRIPT, args, { env })

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "gb-verify-engine-"))
    const { DOCKER_HOST: _host, DOCKER_CONTEXT: _context, ...rest } = process.env
    env = { ...rest, GLOVEBOX_ENGINE_STATE: join(folder, "state") }
    await engine("--json")
  })
  afterAll(async () => {
    await engine("stop").catch(() => {})
    await rm(folder, { recursive: true, force: true })
  })

  it("an executor with verify: claim gives no sandbox from before, and new ones are as promised", async () => {
    const dockerHost = `unix://${join(folder, "state/docker.sock")}`
    await using executor = new DockerCommandLineCodeExecutor({
      policy: POLICY,
      dockerHost,
      pool: { size: 1 },
      verify: "claim",
    })
    const before = await executor.executeCodeBlocks(HELLO)
    expect(before.stdout).toBe("ran\n")
    process.kill(Number(await readFile(join(folder, "state/docker.pid"), "utf8")), "SIGKILL")
    const code: unknown = expect.stringMatching(/^(ENGINE_UNAVAILABLE|SANDBOX_LOST)$/)
    await expect(executor.executeCodeBlocks(HELLO)).rejects.toMatchObject({ code })
    await engine("--json")
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
