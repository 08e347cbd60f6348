import { readdirSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { tcpGate } from "../tcp-gate.test-kit.ts"
import { FaultCluster } from "./fault-cluster.test-kit.ts"
import type { FaultProcess } from "./fault-process.test-kit.ts"
import { INNOCENT, judge } from "./verdict.test-kit.ts"

const MEBIBYTE = 1024 * 1024

async function sizeOf(process: FaultProcess): Promise<{ readonly heap: number; readonly files: number }> {
  const { heap } = await process.call<{ heap: number }>("memory")
  return { heap, files: readdirSync(`/proc/${process.pid}/fd`).length }
}

describe("a worker that loses its connection a thousand times", () => {
  it("is back each time, and neither it nor the host grows", async () => {
    await using cluster = await FaultCluster.start({ settleMs: 0 })
    await using way = await tcpGate(cluster.address)
    const { process: worker } = await cluster.startWorker({ hostAddress: way.address })
    const { process: caller } = await cluster.startWorker({ hasAgents: false })
    const reconnect = async (times: number): Promise<void> => {
      for (let time = 0; time < times; time++) {
        way.cut()
        // One is under way when it is cut, most of the time.
        const outcome = await caller.call("send", { key: time % 10 })
        expect(outcome).toBe("ok")
      }
    }
    const sizes = async () => [await sizeOf(worker), await sizeOf(cluster.host)] as const
    await reconnect(100)
    const before = await sizes()
    await reconnect(1000)
    const after = await sizes()
    for (const [index, { heap, files }] of after.entries()) {
      expect(heap - (before[index]?.heap ?? 0)).toBeLessThan(4 * MEBIBYTE)
      expect(files - (before[index]?.files ?? 0)).toBeLessThan(10)
    }
    const { reconnects } = await worker.call<{ reconnects: number }>("status")
    expect(reconnects).toBeGreaterThan(1000)
    expect(judge(cluster.record)).toEqual(INNOCENT)
  })
})
