import assert from "node:assert/strict"
import { ClosureAgent, RoutedAgent, agentId, topicId, typeSubscription } from "../../core/index.ts"
import { rejectionOf, rejectsWith } from "../expectations.ts"
import { type RuntimeSuite, Say, latch, say } from "./runtime-suite.ts"

export function defineRuntimeEnds({ it }: RuntimeSuite): void {
  it("by a stop answer those that wait and those being handled, and tell handlers to end", async (open) => {
    const { home, agent, start } = await open()
    const begun = latch()
    let told: unknown
    await agent("a", async (_message, { signal }) => {
      begun.open()
      await new Promise((resolve) => {
        signal.addEventListener("abort", resolve)
      })
      told = signal.reason
    })
    await start()
    const sends = [1, 2, 3].map(async () => rejectsWith(home.send(say(""), agentId("a")), "RUNTIME_STOPPED"))
    await begun.opened
    await Promise.all([home.stop(), ...sends])
    assert.equal((told as { code?: unknown }).code, "RUNTIME_STOPPED")
    await rejectsWith(home.send(say(""), agentId("a")), "RUNTIME_STOPPED")
    await rejectsWith(home.publish(say(""), topicId("x")), "RUNTIME_STOPPED")
  })

  it("by a stop do not wait for ever for a handler that does not listen", async (open) => {
    const { home, agent, start } = await open()
    const begun = latch()
    await agent("a", () => {
      begun.open()
      return new Promise<void>(() => {})
    })
    await start()
    const sent = rejectsWith(home.send(say(""), agentId("a")), "RUNTIME_STOPPED")
    await begun.opened
    await Promise.all([home.stop({ graceMs: 5 }), sent])
  })

  it("by a stop may be asked for in a handler, by several at once, and again", async (open) => {
    const { home, agent, start } = await open()
    await agent("a", async () => {
      await home.stop()
    })
    await start()
    await rejectsWith(home.send(say(""), agentId("a")), "RUNTIME_STOPPED")
    await Promise.all([home.stop(), home.stop()])
    await home.stop()
  })

  it("by a stop before the start answer what waits", async (open) => {
    const { home, agent } = await open()
    await agent("a", () => {})
    const sent = rejectsWith(home.send(say(""), agentId("a")), "RUNTIME_STOPPED")
    await Promise.all([home.stop(), sent])
  })

  it("by a stop are not final: the same agents go on after another start", async (open) => {
    const { home, agent, start } = await open()
    const handled: string[] = []
    await agent("a", ({ text }) => void handled.push(text), { subscriptions: [typeSubscription("news")] })
    await start()
    await home.send(say("1"), agentId("a"))
    await home.stop()
    await home.start()
    await home.send(say("2"), agentId("a"))
    await home.publish(say("3"), topicId("news"))
    await home.whenIdle()
    assert.deepEqual(handled, ["1", "2", "3"])
  })

  it("under load settle every send and every publication", async (open) => {
    for (const end of ["stop", "close"] as const) {
      const { home, agent, start } = await open()
      await agent(
        "a",
        async ({ text }, { signal }, self) => {
          if (text !== "0") await self.send(say(`${Number(text) - 1}`), agentId("a", text), { signal })
          await new Promise(setImmediate)
        },
        { subscriptions: [typeSubscription("news")], concurrency: 3 },
      )
      await start()
      const settled: Promise<unknown>[] = []
      for (let index = 0; index < 200; index += 1) {
        const key = agentId("a", `${index % 7}`)
        settled.push(home.send(say(`${index % 4}`), key).catch((error: unknown) => error))
        if (index % 5 === 0) {
          settled.push(home.publish(say("1"), topicId("news", `${index}`)).catch((error: unknown) => error))
        }
        if (index % 20 === 0) await new Promise(setImmediate)
      }
      await home[end]()
      const outcomes = await Promise.all(settled)
      for (const outcome of outcomes.filter((value) => value !== undefined)) {
        assert.match(String((outcome as { code?: unknown }).code), /^RUNTIME_STOPPED$/)
      }
    }
  })

  it("by a close end every agent once, also when some fail to", async (open) => {
    const closed: string[] = []
    class Closing extends RoutedAgent {
      constructor() {
        super("Closes.")
        this.on(Say, () => {})
      }
      override close(): void {
        closed.push(this.id.key)
        if (this.id.key.startsWith("bad")) throw new Error(`no: ${this.id.key}`)
      }
    }
    const { home, register, start } = await open()
    await register("c", () => new Closing())
    await start()
    for (const key of ["x", "bad", "y"]) await home.send(say(""), agentId("c", key))
    await rejectsWith(home.close(), "AGENT_CLOSE_FAILED", /c\/bad/)
    assert.deepEqual(closed.toSorted(), ["bad", "x", "y"])
    await rejectsWith(home.send(say(""), agentId("c")), "RUNTIME_STOPPED")
    await rejectsWith(
      register("d", () => new Closing()),
      "RUNTIME_STOPPED",
    )
    await rejectionOf((async () => home.start())())
  })

  it("by a close end an agent whose factory ends after it", async (open) => {
    const called = latch()
    const opened = latch()
    const closed = latch()
    class Late extends ClosureAgent<[typeof Say]> {
      constructor() {
        super([Say], () => {})
      }
      override close(): void {
        closed.open()
      }
    }
    const { home, register, start } = await open()
    await register("late", async () => {
      called.open()
      await opened.opened
      return new Late()
    })
    await start()
    const sent = rejectsWith(home.send(say(""), agentId("late")), "RUNTIME_STOPPED")
    await called.opened
    await Promise.all([home.close(), sent])
    opened.open()
    await closed.opened
  })

  it("come with the first error of a publication, where none is to be ignored", async (open) => {
    const { home, agent, start } = await open({ ignoreUnhandledExceptions: false })
    await agent("a", () => Promise.reject(new Error("boom")), { subscriptions: [typeSubscription("news")] })
    await start()
    // Where it is on its way for longer than its handler takes, the stop overtakes its answer.
    await home.publish(say(""), topicId("news")).catch(() => {})
    assert.match(String(await rejectionOf(home.stopWhenIdle())), /boom/)
  })
}
