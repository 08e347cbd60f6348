import assert from "node:assert/strict"
import { agentId, defaultSubscription } from "../../core/index.ts"
import { rejectionOf, rejectsWith } from "../expectations.ts"
import { type RuntimeSuite, latch, say } from "./runtime-suite.ts"

export function defineRuntimeIdleness({ it }: RuntimeSuite): void {
  it("comes at once where nothing was sent", async (open) => {
    const { home, away, start } = await open()
    await start()
    await Promise.all([home.whenIdle(), away.whenIdle()])
  })

  it("waits for messages that cause further messages", async (open) => {
    const { away, agent, start } = await open()
    const counts: Record<string, number> = {}
    for (const type of ["a", "b", "c"]) {
      await agent(
        type,
        async ({ text }, _context, self) => {
          counts[type] = (counts[type] ?? 0) + 1
          const round = Number(text)
          if (round < 3) await self.publish(say(`${round + 1}`))
        },
        { subscriptions: [defaultSubscription()] },
      )
    }
    await start()
    await away.publish(say("0"))
    await away.whenIdle()
    // Rounds 0..3: all three, then each publication reaches the two others.
    const expected = 1 + 2 + 4 + 8
    assert.deepEqual(counts, { a: expected, b: expected, c: expected })
  })

  it("is waited for by several, and can be given up", async (open) => {
    const { home, away, agent, start } = await open()
    const begun = latch()
    const ended = latch()
    await agent("slow", () => (begun.open(), ended.opened))
    await start()
    const sent = away.send(say(""), agentId("slow"))
    await begun.opened
    const controller = new AbortController()
    const waiting = [home.whenIdle(), away.whenIdle()]
    const impatient = home.whenIdle({ signal: controller.signal })
    controller.abort(new Error("not now"))
    assert.equal(await rejectionOf(impatient), controller.signal.reason)
    ended.open()
    await Promise.all([sent, ...waiting])
  })

  it("stops the runtime that waits for it", async (open) => {
    const { home, agent, start } = await open()
    const handled: string[] = []
    await agent("a", async ({ text }, _context, self) => {
      handled.push(text)
      if (text === "first") await self.send(say("second"), agentId("a", "b"))
    })
    await start()
    const sent = home.send(say("first"), agentId("a", "a"))
    await home.stopWhenIdle()
    await sent
    assert.deepEqual(handled, ["first", "second"])
    await rejectsWith(home.send(say(""), agentId("a")), "RUNTIME_STOPPED")
  })

  it("lets whoever gets the last reply go on before it stops", async (open) => {
    const { home, agent, start } = await open()
    await agent("a", () => {})
    await start()
    const caller = (async () => {
      for (let index = 0; index < 3; index += 1) await home.send(say(""), agentId("a"))
      return "all sent"
    })()
    await home.stopWhenIdle()
    assert.equal(await caller, "all sent")
  })

  it("cannot be waited for inside a handler, which keeps the runtime busy, or before the start", async (open) => {
    const { home, agent, start } = await open()
    await agent("a", async () => home.stopWhenIdle())
    await rejectsWith(home.stopWhenIdle(), "RUNTIME_STATE")
    await start()
    await rejectsWith(home.send(say(""), agentId("a")), "RUNTIME_STATE")
  })

  it("is not needed where a condition ends it", async (open) => {
    const { home, agent, start } = await open()
    let handled = 0
    await agent(
      "a",
      async () => {
        handled += 1
        await home.publish(say("")).catch(() => {})
      },
      { subscriptions: [defaultSubscription()] },
    )
    await start()
    await home.publish(say(""))
    await home.stopWhen(() => handled >= 3)
    assert.ok(handled >= 3)
    await rejectsWith(home.send(say(""), agentId("a")), "RUNTIME_STOPPED")
  })
}
