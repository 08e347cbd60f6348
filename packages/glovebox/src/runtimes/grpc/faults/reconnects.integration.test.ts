import { readdirSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { tcpGate } from "../tcp-gate.test-kit.ts"
import { FaultCluster } from "./fault-cluster.test-kit.ts"
import type { FaultProcess } from "./fault-process.test-kit.ts"
import { INNOCENT, judge } from "./verdict.test-kit.ts"

const MEBIBYTE = 1024 * 1024
const WORKERS = 4

async function sizeOf(process: FaultProcess): Promise<{ readonly heap: number; readonly files: number }> {
  const { heap } = await process.call<{ heap: number }>("memory")
  return { heap, files: readdirSync(`/proc/${process.pid}/fd`).length }
}

describe("workers that lose their connections a thousand times", () => {
  it("are back each time, and neither they nor the host grow", async () => {
    await using cluster = await FaultCluster.start({ settleMs: 0 })
    await using way = await tcpGate(cluster.address)
    const workers = await Promise.all(
      Array.from({ length: WORKERS }, async () => {
        const { process } = await cluster.startWorker({ hostAddress: way.address })
        return process
      }),
    )
    const { process: caller } = await cluster.startWorker({ hasAgents: false })
    const keys = Array.from({ length: 2 * WORKERS }, (_, key) => key)
    const sendAll = async (): Promise<void> => {
      const outcomes = await Promise.all(keys.map(async (key) => await caller.call("send", { key })))
      expect(new Set(outcomes)).toEqual(new Set(["ok"]))
    }
    const reconnect = async (times: number): Promise<void> => {
      for (let time = 0; time < times; time++) {
        way.cut()
        await sendAll()
      }
    }
    // They live at all of the workers from now on, so each worker is back when all have answered.
    await sendAll()
    const processes = [cluster.host, ...workers]
    const sizes = async () => await Promise.all(processes.map(sizeOf))
    await reconnect(30)
    const before = await sizes()
    await reconnect(1000 / WORKERS)
    const after = await sizes()
    for (const [index, { heap, files }] of after.entries()) {
      expect(heap - (before[index]?.heap ?? 0)).toBeLessThan(4 * MEBIBYTE)
      expect(files - (before[index]?.files ?? 0)).toBeLessThan(10)
    }
    for (const worker of workers) {
      const { reconnects } = await worker.call<{ reconnects: number }>("status")
      expect(reconnects).toBeGreaterThanOrEqual(1000 / WORKERS)
    }
    expect(judge(cluster.record)).toEqual(INNOCENT)
  })
})
