import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { LinkedPair, requestOf } from "./linked-pair.test-kit.ts"
import { cuts, playCuts } from "./random-cuts.test-kit.ts"

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

describe("Link, for longer", () => {
  it("delivers each frame once and in order, wherever its streams are cut", async () => {
    await fc.assert(
      fc.asyncProperty(cuts, async (steps) => {
        const { sent, got } = await playCuts(steps)
        expect(got).toEqual(sent)
      }),
      { seed: 99, numRuns: 60 },
    )
  })

  it("keeps nothing of a thousand streams", async () => {
    let count = 0
    await using pair = new LinkedPair(
      {},
      {
        onMessage: () => {
          count++
          pair.host.messages.length = 0
        },
      },
    )
    const round = async (rounds: number): Promise<number> => {
      for (let index = 0; index < rounds; index++) {
        await pair.join()
        for (let id = 0; id < 10; id++) pair.worker.link.send(requestOf(id, 1000))
        const last = pair.worker.link.send(requestOf("last", 1000))
        if (index % 2 === 0) await pair.worker.link.whenReceived(last)
        if (index % 3 === 0) pair.host.link.detach()
        pair.host.causes.length = 0
        pair.worker.causes.length = 0
      }
      const all = pair.worker.link.send(requestOf("end"))
      await pair.join()
      await pair.worker.link.whenReceived(all)
      collectGarbage()
      return process.memoryUsage().heapUsed
    }
    const before = await round(100)
    const after = await round(1000)
    expect(count).toBe(1100 * 11 + 2)
    expect(after - before).toBeLessThan(8 * 1024 * 1024)
  })
})
