import assert from "node:assert/strict"
import { ClosureAgent, agentId, topicId, typeSubscription } from "../../core/index.ts"
import { rejectionOf, rejectsWith } from "../expectations.ts"
import { type RuntimeSuite, Say, type Stage, latch, say, until } from "./runtime-suite.ts"

interface Busy {
  /** What its handler was called with. */
  readonly started: string[]
  readonly signals: AbortSignal[]
  readonly begun: Promise<void>
  readonly end: () => void
}

/** An agent that handles one message at a time, each until the test lets it end. */
async function busyAgent({ agent, start }: Stage): Promise<Busy> {
  const started: string[] = []
  const signals: AbortSignal[] = []
  const begun = latch()
  const ended = latch()
  await agent(
    "worker",
    async ({ text }, { signal }) => {
      started.push(text)
      signals.push(signal)
      begun.open()
      await ended.opened
    },
    { subscriptions: [typeSubscription("work")] },
  )
  await start()
  return { started, signals, begun: begun.opened, end: ended.open }
}

const worker = agentId("worker")

export function defineRuntimeCancellations({ it }: RuntimeSuite): void {
  const reason = new Error("no longer wanted")

  it("before it is sent: nothing is", async (open) => {
    const stage = await open()
    const { started } = await busyAgent(stage)
    const signal = AbortSignal.abort(reason)
    assert.equal(await rejectionOf(stage.away.send(say(""), worker, { signal })), reason)
    assert.equal(await rejectionOf(stage.away.publish(say(""), topicId("work"), { signal })), reason)
    await stage.away.whenIdle()
    assert.deepEqual(started, [])
  })

  it("before the start: its handler never runs", async (open) => {
    const { home, agent, start } = await open()
    let handled = 0
    await agent("late", () => void (handled += 1))
    const controller = new AbortController()
    const sent = home.send(say(""), agentId("late"), { signal: controller.signal })
    controller.abort(reason)
    assert.equal(await rejectionOf(sent), reason)
    await start()
    await home.whenIdle()
    assert.equal(handled, 0)
  })

  it("at once: it rejects with the reason, whatever that is, and the next one is handled", async (open) => {
    const { away, agent, start } = await open()
    const heard: string[] = []
    await agent("a", ({ text }) => void heard.push(text))
    await start()
    for (const why of [reason, "a text", undefined]) {
      const controller = new AbortController()
      const sent = away.send(say("withdrawn"), agentId("a"), { signal: controller.signal })
      controller.abort(why)
      assert.equal(await rejectionOf(sent), controller.signal.reason)
    }
    await away.send(say("next"), agentId("a"))
    assert.equal(heard.at(-1), "next")
  })

  it("while it waits: its handler never runs", async (open) => {
    const stage = await open()
    const { started, begun, end } = await busyAgent(stage)
    const first = stage.away.send(say("first"), worker)
    await begun
    const controller = new AbortController()
    const second = stage.away.send(say("second"), worker, { signal: controller.signal })
    const third = stage.away.send(say("third"), worker)
    controller.abort(reason)
    assert.equal(await rejectionOf(second), reason)
    // Whatever carries the cancellation has passed when a later message has been answered.
    await stage.agent("other", () => {})
    await stage.away.send(say(""), agentId("other"))
    end()
    await Promise.all([first, third])
    await stage.away.whenIdle()
    assert.deepEqual(started, ["first", "third"])
  })

  it("while its agent is built: its handler never runs", async (open) => {
    const { away, register, start } = await open()
    const called = latch()
    const built = latch()
    let handled = 0
    await register("late", async () => {
      called.open()
      await built.opened
      return new ClosureAgent([Say], () => void (handled += 1))
    })
    await register("other", () => new ClosureAgent([Say], () => {}))
    await start()
    const controller = new AbortController()
    const sent = away.send(say(""), agentId("late"), { signal: controller.signal })
    await called.opened
    controller.abort(reason)
    assert.equal(await rejectionOf(sent), reason)
    await away.send(say(""), agentId("other"))
    built.open()
    await away.whenIdle()
    assert.equal(handled, 0)
  })

  it("while it is handled: the caller has its answer at once, and the handler learns why", async (open) => {
    const stage = await open()
    const { signals, begun, end } = await busyAgent(stage)
    const controller = new AbortController()
    const sent = stage.away.send(say(""), worker, { signal: controller.signal })
    await begun
    controller.abort(reason)
    assert.equal(await rejectionOf(sent), reason)
    await until(() => signals[0]?.aborted === true)
    assert.match(String(signals[0]?.reason), /no longer wanted/)
    end()
    await stage.away.whenIdle()
  })

  it("reaches a handler that waits for its own signal, and through it the agents it asks", async (open) => {
    const { away, agent, start } = await open()
    const begun = latch()
    const ended: string[] = []
    await agent("end", async (_message, { signal }) => {
      begun.open()
      await new Promise((resolve) => {
        signal.addEventListener("abort", resolve)
      })
      ended.push("end")
    })
    await agent("middle", async (message, { signal }, self) => {
      await self.send(message, agentId("end"), { signal }).catch(() => ended.push("middle"))
    })
    await start()
    const controller = new AbortController()
    const sent = away.send(say(""), agentId("middle"), { signal: controller.signal })
    await begun.opened
    controller.abort(reason)
    assert.equal(await rejectionOf(sent), reason)
    await away.whenIdle()
    assert.deepEqual(ended.toSorted(), ["end", "middle"])
  })

  it("after the reply: nothing happens", async (open) => {
    const { away, agent, start } = await open()
    await agent("quick", () => {})
    await start()
    const controller = new AbortController()
    const { signal } = controller
    await away.send(say(""), agentId("quick"), { signal })
    controller.abort(reason)
    await away.send(say(""), agentId("quick"))
  })

  it("whose handler fails later leaves the runtime able to become idle", async (open) => {
    const { away, agent, start } = await open()
    const begun = latch()
    const ended = latch()
    await agent("sulky", async () => {
      begun.open()
      await ended.opened
      throw new Error("after the fact")
    })
    await start()
    const controller = new AbortController()
    const sent = away.send(say(""), agentId("sulky"), { signal: controller.signal })
    await begun.opened
    controller.abort(reason)
    assert.equal(await rejectionOf(sent), reason)
    ended.open()
    await away.whenIdle()
  })

  it("by a deadline ends a send whose handler takes too long, and tells the handler", async (open) => {
    const stage = await open()
    const { signals, end } = await busyAgent(stage)
    // Long enough for the message to arrive, on any machine.
    await rejectsWith(stage.away.send(say(""), worker, { timeoutMs: 100 }), "SEND_TIMEOUT", /worker\/default/)
    await until(() => signals[0]?.aborted === true)
    assert.match(String(signals[0]?.reason), /100 ms/)
    end()
    await stage.away.whenIdle()
  })

  it("by a deadline ends a send that still waits, whose handler then never runs", async (open) => {
    const stage = await open()
    const { started, begun, end } = await busyAgent(stage)
    const first = stage.away.send(say("first"), worker)
    await begun
    await rejectsWith(stage.away.send(say("x"), worker, { timeoutMs: 5 }), "SEND_TIMEOUT")
    await stage.agent("other", () => {})
    await stage.away.send(say(""), agentId("other"))
    end()
    await first
    await stage.away.whenIdle()
    assert.deepEqual(started, ["first"])
  })

  it("by the runtime's own deadline ends a send that sets none", async (open) => {
    const stage = await open({ sendTimeoutMs: 20 })
    const { end } = await busyAgent(stage)
    await rejectsWith(stage.away.send(say(""), worker), "SEND_TIMEOUT", /20 ms/)
    end()
  })
}
