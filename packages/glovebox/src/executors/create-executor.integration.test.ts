import { describe, expect, it } from "vitest"
import { HAS_NO_DOCKER, IMAGE } from "./docker/docker-subject.test-kit.ts"
import { probeTier } from "./factory/probe-tier.ts"
import { type CreateExecutorOptions, createExecutor } from "./index.ts"

const PRINT = [{ language: "python", code: "print(6 * 7)" }]

async function runsIn(options: CreateExecutorOptions, kind: string): Promise<void> {
  await using executor = await createExecutor({ timeout: "30s", ...options })
  const { stdout, sandbox } = await executor.executeCodeBlocks(PRINT)
  expect([stdout, sandbox.kind, executor.describe().sandbox]).toEqual(["42\n", kind, kind])
  let last = ""
  for await (const event of executor.stream(PRINT)) last = event.type
  expect(last).toBe("finished")
  await executor.restart()
  await executor.stop()
}

describe("createExecutor", () => {
  it.skipIf(HAS_NO_DOCKER).each<[CreateExecutorOptions, string]>([
    [{ sandbox: "auto", policy: { image: IMAGE }, pull: "never" }, "docker"],
    [{ sandbox: "docker", image: IMAGE, pull: "never" }, "docker"],
    [{ sandbox: "jupyter" }, "jupyter"],
  ])("with %j runs code in what it says: %s", runsIn)

  it.each<[CreateExecutorOptions, string]>([
    [{ sandbox: "bubblewrap" }, "bubblewrap"],
    [{ sandbox: "wasm" }, "wasm"],
    [{ sandbox: "local", dangerouslyRunOnHost: true }, "local"],
  ])("with %j runs code in what it says: %s", runsIn)

  it.skipIf(HAS_NO_DOCKER)("sees that an image is not there, and what to do", async () => {
    const image = "glovebox/none:1"
    expect(await probeTier("docker", { image, pull: "never" })).toEqual({
      isAvailable: false,
      detail: expect.stringContaining(image) as string,
      remedy: `docker pull ${image}`,
    })
    expect((await probeTier("docker", { image: IMAGE, pull: "never" })).isAvailable).toBe(true)
    expect((await probeTier("bubblewrap", { image, pull: "never" })).isAvailable).toBe(true)
  })
})
