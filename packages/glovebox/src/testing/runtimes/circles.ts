import assert from "node:assert/strict"
import { agentId } from "../../core/index.ts"
import { type RuntimeSuite, Said, type Stage, latch, say } from "./runtime-suite.ts"

/** Agents a, b and c that write down what they are asked, and ask on as the route says: `who<what` to `what:whom`. */
async function relays({ agent, start }: Stage, route: Readonly<Record<string, string>>): Promise<string[]> {
  const log: string[] = []
  for (const type of ["a", "b", "c"]) {
    await agent(type, async ({ text }, _context, self) => {
      log.push(`${type}<${text}`)
      const next = route[`${type}<${text}`]
      if (next !== undefined) await self.send(say(next), agentId(next.split(":")[1] ?? ""))
      log.push(`${type}>${text}`)
      return Said({ text })
    })
  }
  await start()
  return log
}

export function defineRuntimeCircles({ it }: RuntimeSuite): void {
  it("to the agent itself are answered", async (open) => {
    const stage = await open()
    const log = await relays(stage, { "a<start": "again:a" })
    await stage.away.send(say("start"), agentId("a"))
    assert.deepEqual(log, ["a<start", "a<again:a", "a>again:a", "a>start"])
  })

  it("of two agents are answered", async (open) => {
    const stage = await open()
    const log = await relays(stage, { "a<start": "1:b", "b<1:b": "2:a" })
    await stage.away.send(say("start"), agentId("a"))
    assert.deepEqual(log, ["a<start", "b<1:b", "a<2:a", "a>2:a", "b>1:b", "a>start"])
  })

  it("of three are answered ahead of what waits there", async (open) => {
    const stage = await open()
    const log = await relays(stage, { "a<start": "1:b", "b<1:b": "2:c", "c<2:c": "3:a" })
    const sends = ["start", "other"].map((text) => stage.away.send(say(text), agentId("a")))
    await Promise.all(sends)
    const circle = ["a<start", "b<1:b", "c<2:c", "a<3:a", "a>3:a", "c>2:c", "b>1:b", "a>start"]
    assert.deepEqual(log, [...circle, "a<other", "a>other"])
  })

  it("do not let strangers in between", async (open) => {
    const { away, agent, start } = await open()
    const log: string[] = []
    const asked = latch()
    const ended = latch()
    await agent("helper", () => {
      asked.open()
      return ended.opened
    })
    await agent("a", async ({ text }, _context, self) => {
      log.push(`+${text}`)
      if (text === "first") await self.send(say("help"), agentId("helper"))
      log.push(`-${text}`)
    })
    // Another agent asks while the first request waits for its helper: it is no part of that circle.
    const sent = latch()
    await agent("stranger", async (_message, _context, self) => {
      const second = self.send(say("second"), agentId("a"))
      sent.open()
      await second
    })
    await start()
    const sends = [away.send(say("first"), agentId("a"))]
    await asked.opened
    sends.push(away.send(say("go"), agentId("stranger")))
    await sent.opened
    ended.open()
    await Promise.all(sends)
    assert.deepEqual(log, ["+first", "-first", "+second", "-second"])
  })

  it("are answered when all places of a concurrent agent wait for it", async (open) => {
    const { away, agent, start } = await open()
    await agent(
      "pool",
      async ({ text }, _context, self) => {
        if (text === "outer") await self.send(say("inner"), self.id)
        return Said({ text })
      },
      { concurrency: 2 },
    )
    await start()
    const sends = Array.from({ length: 6 }, () => away.send(say("outer"), agentId("pool")))
    assert.equal((await Promise.all(sends)).length, 6)
  })

  it("of sends that nobody waits for keep the promise of one at a time", async (open) => {
    const { away, agent, start } = await open()
    let active = 0
    let most = 0
    const bounce = (type: string, to: string): Promise<void> =>
      agent(type, async ({ text }, _context, self) => {
        if (type === "a") most = Math.max(most, (active += 1))
        if (Number(text) < 20) void self.send(say(`${Number(text) + 1}`), agentId(to))
        await new Promise(setImmediate)
        if (type === "a") active -= 1
      })
    await bounce("a", "b")
    await bounce("b", "a")
    await start()
    await Promise.all([away.send(say("0"), agentId("a")), away.send(say("1"), agentId("a"))])
    await away.whenIdle()
    assert.equal(most, 1)
  })

  it("may be deep", async (open) => {
    const { away, agent, start } = await open()
    await agent("deep", async ({ text }, _context, self) => {
      if (text !== "0") await self.send(say(`${Number(text) - 1}`), agentId("deep"))
      return Said({ text })
    })
    await start()
    assert.equal((await away.send(say("50"), agentId("deep"), { expect: Said })).text, "50")
  })
}
