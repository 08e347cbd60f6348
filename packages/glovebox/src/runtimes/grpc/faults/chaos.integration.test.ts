import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { Chaos } from "./chaos.test-kit.ts"
import { FaultCluster } from "./fault-cluster.test-kit.ts"
import { INNOCENT, judge, outcomes } from "./verdict.test-kit.ts"

const GRACE_MS = 1500
const KEYS = 12
// Another one each time; what failed can be had again.
const seed = Number(process.env["FAULTS_SEED"] ?? Date.now() % 1_000_000)

describe("workers and a host that are killed and stopped at random moments, under load", () => {
  it("settle every send, let no agent live twice, handle nothing twice, and work again", async () => {
    await using cluster = await FaultCluster.start({ graceMs: GRACE_MS, heartbeatMs: 150 })
    const { process: caller } = await cluster.startWorker({ hasAgents: false })
    const workers = await Promise.all([1, 2, 3].map(async () => await cluster.startWorker()))
    await Promise.all([cluster.spare("host-program", 1), cluster.spare("worker-program", 2)])
    const chaos = new Chaos(cluster, workers, { seed, longMs: 1.5 * GRACE_MS })
    await caller.call("startLoad", { keys: KEYS, everyMs: 5, maxMs: 30, timeoutMs: 4000 })
    await chaos.make()
    await caller.call("stopLoad")
    // Soon all is as before: every agent answers.
    for (let key = 0; key < KEYS; key++) {
      while ((await caller.call<string>("send", { key })) !== "ok") await sleep(100)
    }
    const { record } = cluster
    const ended = outcomes(record)
    const story = `FAULTS_SEED=${seed}: ${chaos.story.join(", ")}; ${JSON.stringify(ended)}`
    expect(judge(record), story).toEqual(INNOCENT)
    expect(ended["ok"], story).toBeGreaterThan(100)
  })
})
