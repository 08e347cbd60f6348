import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { FaultCluster, type Named } from "./fault-cluster.test-kit.ts"
import { HAS_NETWORKS, Networks } from "./networks.test-kit.ts"
import { INNOCENT, judge, outcomes } from "./verdict.test-kit.ts"

const PORT = 50_051
const GRACE_MS = 3000

/** A host at the hub, and workers at the ends of cables. */
async function startAtHub(networks: Networks): Promise<FaultCluster> {
  return await FaultCluster.start(
    { address: `0.0.0.0:${PORT}`, allowPlaintext: true, graceMs: GRACE_MS, heartbeatMs: 100, settleMs: 0 },
    networks.under("hub"),
  )
}

async function startAt(
  cluster: FaultCluster,
  networks: Networks,
  spoke: number,
  hasAgents = true,
): Promise<Named> {
  return await cluster.startWorker({
    hasAgents,
    hostAddress: `${networks.hubAddress(spoke)}:${PORT}`,
    runtime: { allowPlaintext: true },
    under: networks.under(spoke),
  })
}

async function untilConnected({ process }: Named): Promise<void> {
  while ((await process.call<{ state: string }>("status")).state !== "connected") await sleep(20)
}

describe.skipIf(!HAS_NETWORKS)("a network that is cut (needs root, and ip of iproute2)", () => {
  it("for less than the grace time loses nothing and doubles nothing", async () => {
    using networks = new Networks(2)
    await using cluster = await startAtHub(networks)
    const worker = await startAt(cluster, networks, 0)
    const caller = await startAt(cluster, networks, 1, false)
    await caller.process.call("startLoad", { keys: 12, everyMs: 2, maxMs: 5, timeoutMs: 20_000 })
    for (const [spoke, end] of [worker, caller].entries()) {
      networks.cut(spoke)
      // Longer than it takes to notice.
      await sleep(700)
      networks.join(spoke)
      await untilConnected(end)
    }
    await caller.process.call("stopLoad")
    const { record } = cluster
    expect(judge(record)).toEqual(INNOCENT)
    expect(Object.keys(outcomes(record))).toEqual(["ok"])
    for (const end of [worker, caller]) {
      expect(await end.process.call("status")).toMatchObject({ reconnects: 1 })
    }
  })

  it("for longer gives the agents to others, after they are gone where they were", async () => {
    using networks = new Networks(3)
    await using cluster = await startAtHub(networks)
    const lost = await startAt(cluster, networks, 0)
    const caller = await startAt(cluster, networks, 2, false)
    expect(await caller.process.call("send", { key: "a" })).toBe("ok")
    const other = await startAt(cluster, networks, 1)
    const handled = caller.process.call("send", { key: "a", ms: 60_000, timeoutMs: 60_000 })
    while (cluster.record.filter(({ what }) => what === "begin").length < 2) await sleep(10)
    networks.cut(0)
    expect(await handled).toBe("WORKER_LOST")
    expect(await caller.process.call("send", { key: "a" })).toBe("ok")
    networks.join(0)
    await untilConnected(lost)
    expect(await caller.process.call("send", { key: "b" })).toBe("ok")
    const lives = cluster.record.filter(({ what }) => what === "born" || what === "gone")
    expect(lives.map(({ what, agent, worker }) => [what, agent, worker])).toEqual([
      ["born", "job/a", lost.name],
      ["gone", "job/a", lost.name],
      ["born", "job/a", other.name],
      ["born", "job/b", lost.name],
    ])
    expect(judge(cluster.record)).toEqual(INNOCENT)
  })
})
