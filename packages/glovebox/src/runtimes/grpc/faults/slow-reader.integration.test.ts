import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { FaultCluster } from "./fault-cluster.test-kit.ts"
import type { FaultProcess } from "./fault-process.test-kit.ts"

const MEBIBYTE = 1024 * 1024

async function residentOf(process: FaultProcess): Promise<number> {
  return (await process.call<{ resident: number }>("memory")).resident
}

describe("a worker that takes nothing while others publish to it", () => {
  it.each(["is stopped", "is busy"])("and %s: the host stays small, and serves the others", async (how) => {
    await using cluster = await FaultCluster.start({
      maxQueuedBytes: 4 * MEBIBYTE,
      // It must not be found out, but be borne.
      heartbeatMs: 600_000,
      graceMs: 600_000,
      settleMs: 0,
    })
    const slow = await cluster.startWorker({ runtime: { maxOutstanding: 10 } })
    const { process: caller } = await cluster.startWorker({ hasAgents: false })
    const flood = { key: "slow", padding: 100_000, ms: how === "is busy" ? 600_000 : 0 }
    // It lives there, because there is no other worker yet.
    await caller.call("publish", { ...flood, count: 1 })
    await cluster.startWorker()
    expect(await caller.call("send", { key: "quick" })).toBe("ok")
    if (how === "is stopped") cluster.stopWorker(slow)
    const before = await residentOf(cluster.host)
    const codes = await caller.call<Record<string, number>>("publish", { ...flood, count: 1000 })
    expect(Object.keys(codes).toSorted()).toEqual(["QUEUE_FULL", "ok"])
    // Of a hundred.
    expect((await residentOf(cluster.host)) - before).toBeLessThan(48 * MEBIBYTE)
    expect(await caller.call("send", { key: "quick" })).toBe("ok")
    if (how === "is busy") return
    cluster.continueWorker(slow)
    while ((await caller.call<Record<string, number>>("publish", { ...flood, count: 1 }))["ok"] !== 1)
      await sleep(20)
  })
})
