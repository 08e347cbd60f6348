import { describe, expect, it } from "vitest"
import { begin, rejectionOf } from "../../testing/expectations.ts"
import { programsIn } from "../../testing/programs.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { dockerCommand, exists, madeBy, nextContainer } from "./docker-command.test-kit.ts"
import { HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"

const { print, wait } = programsIn(["python"])
const gone = async (ids: readonly string[]): Promise<void> => {
  await expect
    .poll(async () => (await Promise.all(ids.map(exists))).includes(true), { timeout: 10_000, interval: 50 })
    .toBe(false)
}

describe.skipIf(HAS_NO_DOCKER)("the pool of containers", () => {
  it("gives each call a container of its own, that was ready, and removes it afterwards", async () => {
    await using executor = docker()
    await executor.start()
    const ids: string[] = []
    const pooled: unknown[] = []
    for (let call = 0; call < 3; call += 1) {
      const { sandbox } = await executor.executeCodeBlocks([print("x")])
      ids.push(sandbox.containerId ?? "")
      pooled.push(sandbox.pooled)
    }
    expect(pooled[0]).toBe(true)
    expect(new Set(ids).size).toBe(3)
    expect(ids.join("\n")).toMatch(/^(?:[0-9a-f]{64}\n?){3}$/)
    await gone(ids)
  })

  it("makes nothing before it is used", async () => {
    await using executor = docker()
    const made = madeBy(executor)
    await executor.stop()
    expect(made).toEqual([])
  })

  it("replaces a container that was killed while it waited", async () => {
    await using executor = docker({ pool: { size: 1 } })
    const made = madeBy(executor)
    await executor.start()
    const replaced = nextContainer(executor)
    await dockerCommand("kill", made[0] ?? "")
    const fresh = await replaced
    const { sandbox, stdout } = await executor.executeCodeBlocks([print("fine")])
    expect([stdout, sandbox.containerId]).toEqual(["fine", fresh])
  })

  it("does not use a container that was killed a moment ago", async () => {
    await using executor = docker({ pool: { size: 2 } })
    const made = madeBy(executor)
    await executor.start()
    const killed = dockerCommand("kill", made[0] ?? "")
    const results = await Promise.allSettled(
      [0, 1, 2].map(async () => executor.executeCodeBlocks([print("x")])),
    )
    await killed
    const outcomes = results.map((result) =>
      result.status === "rejected" ? (result.reason as { code: string }).code : result.value.stdout,
    )
    // A call that had the container already cannot know better than to say that it was lost.
    expect(outcomes.filter((outcome) => outcome !== "x" && outcome !== "SANDBOX_LOST")).toEqual([])
    expect((await executor.executeCodeBlocks([print("y")])).stdout).toBe("y")
  })

  it("lets its containers go after its lease, and makes new ones when asked", async () => {
    await using executor = docker({ pool: { size: 1, idleLease: "500ms" } })
    const made = madeBy(executor)
    await executor.start()
    await gone(made)
    const count = made.length
    const { sandbox, stdout } = await executor.executeCodeBlocks([print("again")])
    expect([stdout, sandbox.pooled]).toEqual(["again", false])
    expect(made.length).toBeGreaterThan(count)
    await gone(made)
  })

  it("can be left out", async () => {
    await using executor = docker({ pool: false })
    const made = madeBy(executor)
    await executor.start()
    expect(made).toEqual([])
    const { sandbox } = await executor.executeCodeBlocks([print("x")])
    expect(sandbox.pooled).toBe(false)
    expect(made).toEqual([sandbox.containerId])
  })

  it("leaves no container behind when it stops, whatever was going on", async () => {
    const executor = docker({ pool: { size: 2 }, concurrency: 4 })
    const made = madeBy(executor)
    const running = begin(executor, [wait("on")])
    const rejected = rejectionOf(running.result)
    await running.spoke
    // These are at every stage: waiting for a container, being given one, running.
    const others = [0, 1, 2, 3, 4].map(async () => rejectionOf(executor.executeCodeBlocks([wait("on")])))
    const startedAt = performance.now()
    await executor.stop()
    const tookMs = performance.now() - startedAt
    await Promise.all([rejected, ...others])
    expect(await Promise.all(made.map(exists))).not.toContain(true)
    expect(tookMs).toBeLessThan(6_000)
  })

  it("takes an abort while a cold container is made, and that container goes too", async () => {
    await using executor = docker({ pool: false })
    await executor.start()
    const made = madeBy(executor)
    for (const delayMs of [0, 20, 60, 120, 250]) {
      const signal = AbortSignal.timeout(delayMs)
      const call = executor.executeCodeBlocks([wait("on")], { signal })
      expect(await rejectionOf(call)).toBe(signal.reason)
    }
    expect((await executor.executeCodeBlocks([print("fine")])).stdout).toBe("fine")
    await executor.stop()
    await gone(made)
  })

  it("reports a container that was killed while code ran in it, and goes on with another", async () => {
    await using executor = docker()
    const controller = new AbortController()
    const made = madeBy(executor)
    await executor.start()
    const { result, spoke } = begin(executor, [wait("on")], { signal: controller.signal })
    const failure = expectFailure(result, "SANDBOX_LOST")
    await spoke
    await Promise.all(made.map(async (id) => dockerCommand("kill", id).catch(() => "")))
    await failure
    expect((await executor.executeCodeBlocks([print("fine")])).stdout).toBe("fine")
  })
})
