import { AsyncLocalStorage } from "node:async_hooks"
import { describe, expect, it, vi } from "vitest"
import { z } from "zod"
import {
  type Closure,
  ClosureAgent,
  RoutedAgent,
  SingleThreadedAgentRuntime,
  type SingleThreadedAgentRuntimeOptions,
  agentId,
  defaultSubscription,
  defineMessage,
  silentLogger,
} from "../index.ts"
import { expectFailure } from "../expect-failure.test-kit.ts"
import { gate } from "../gate.test-kit.ts"
import { runtimeWith } from "../runtime-with.test-kit.ts"

const Work = defineMessage("Work", z.object({ round: z.number().default(0) }))
const quiet = { logger: silentLogger }

const withHandler = (
  handler: Closure<readonly [typeof Work]>,
  options?: SingleThreadedAgentRuntimeOptions,
): Promise<SingleThreadedAgentRuntime> => runtimeWith(Work, handler, options)

describe("stop", () => {
  it("answers those that wait and those being handled, and tells handlers to end", async () => {
    const begun = gate()
    let aborted: unknown
    await using runtime = await withHandler(async (_message, { signal }) => {
      begun.open()
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
      aborted = signal.reason
    })
    const sends = [1, 2, 3].map(() => runtime.send(Work({}), agentId("a")))
    await begun.promise
    const stopped = runtime.stop()
    for (const send of sends) await expectFailure(send, "RUNTIME_STOPPED", /start it again/)
    await stopped
    expect(aborted).toMatchObject({ code: "RUNTIME_STOPPED" })
    await expectFailure(runtime.send(Work({}), agentId("a")), "RUNTIME_STOPPED")
    await expectFailure(runtime.publish(Work({})), "RUNTIME_STOPPED")
  })

  it("waits a bounded time for a handler that does not listen, and says so", async () => {
    await using runtime = await withHandler(() => new Promise<void>(() => {}))
    const events: unknown[] = []
    runtime.on("runtime-stopped", (event) => events.push(event))
    const sent = runtime.send(Work({}), agentId("a"))
    await new Promise(setImmediate)
    await Promise.all([runtime.stop({ graceMs: 5 }), expectFailure(sent, "RUNTIME_STOPPED")])
    expect(events).toEqual([{ type: "runtime-stopped", abandonedHandlers: 1 }])
  })

  it("can be called by a handler, by several at once, and again", async () => {
    await using runtime = await withHandler(async () => {
      await runtime.stop()
    })
    await expectFailure(runtime.send(Work({}), agentId("a")), "RUNTIME_STOPPED")
    await Promise.all([runtime.stop(), runtime.stop()])
    await runtime.stop()
  })

  it("before the start ends what waits", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    await runtime.register("a", () => new ClosureAgent([Work], () => {}))
    const sent = runtime.send(Work({}), agentId("a"))
    await Promise.all([runtime.stop(), expectFailure(sent, "RUNTIME_STOPPED")])
  })

  it("is not the end: the runtime starts again with the same agents", async () => {
    let handled = 0
    await using runtime = await withHandler(() => void (handled += 1))
    await runtime.send(Work({}), agentId("a"))
    await runtime.stop()
    runtime.start()
    await runtime.send(Work({}), agentId("a"))
    expect(handled).toBe(2)
  })
})

describe("start", () => {
  it("is refused twice and after close", async () => {
    const runtime = new SingleThreadedAgentRuntime()
    runtime.start()
    expect(() => runtime.start()).toThrow(expect.objectContaining({ code: "RUNTIME_STATE" }))
    await runtime.close()
    expect(() => runtime.start()).toThrow(expect.objectContaining({ code: "RUNTIME_STOPPED" }))
  })

  it("fixes the context handlers run in, which is never that of an unrelated sender", async () => {
    const tenant = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    await using runtime = await tenant.run("starter", () =>
      withHandler(() => void seen.push(tenant.getStore())),
    )
    await tenant.run("alice", () => runtime.send(Work({}), agentId("a")))
    await tenant.run("bob", () => runtime.send(Work({}), agentId("a")))
    expect(seen).toEqual(["starter", "starter"])
  })
})

describe("stopWhenIdle", () => {
  it("waits for messages that cause further messages", async () => {
    const counts = new Map<string, number>()
    class Cascade extends RoutedAgent {
      constructor() {
        super("Passes on.")
        this.on(Work, async ({ round }) => {
          counts.set(this.id.type, (counts.get(this.id.type) ?? 0) + 1)
          if (round < 3) await this.publish(Work({ round: round + 1 }))
        })
      }
    }
    await using runtime = new SingleThreadedAgentRuntime()
    const types = ["a", "b", "c"]
    for (const type of types) {
      await runtime.register(type, () => new Cascade(), { subscriptions: [defaultSubscription()] })
    }
    await runtime.publish(Work({}))
    runtime.start()
    await runtime.stopWhenIdle()
    // Rounds 0..3: all three, then each publication reaches the two others.
    const expected = 1 + 2 + 4 + 8
    expect(counts).toEqual(new Map(types.map((type) => [type, expected])))
  })

  it("lets whoever gets the last reply go on before it stops", async () => {
    await using runtime = await withHandler(() => {})
    const caller = (async () => {
      for (let index = 0; index < 3; index += 1) await runtime.send(Work({}), agentId("a"))
      return "all sent"
    })()
    await runtime.stopWhenIdle()
    expect(await caller).toBe("all sent")
  })

  it("can be given up", async () => {
    const ended = gate()
    await using runtime = await withHandler(() => ended.promise)
    const sent = runtime.send(Work({}), agentId("a"))
    const controller = new AbortController()
    const stopping = runtime.stopWhenIdle({ signal: controller.signal })
    controller.abort(new Error("not now"))
    await expect(stopping).rejects.toThrow("not now")
    ended.open()
    await sent
  })

  it("is refused before the start and inside a handler", async () => {
    await using fresh = new SingleThreadedAgentRuntime()
    await expectFailure(fresh.stopWhenIdle(), "RUNTIME_STATE", /start\(\) first/)
    await expectFailure(
      fresh.stopWhen(() => true),
      "RUNTIME_STATE",
    )
    await using runtime = await withHandler(() => runtime.stopWhenIdle())
    await expectFailure(runtime.send(Work({}), agentId("a")), "RUNTIME_STATE", /keeps it busy/)
  })
})

describe("stopWhen", () => {
  it("stops after the message that makes the condition true", async () => {
    let handled = 0
    await using runtime = await withHandler(async (_message, _context, agent) => {
      handled += 1
      await agent.publish(Work({}))
      await runtime.publish(Work({}))
    })
    await runtime.publish(Work({}))
    await runtime.stopWhen(() => handled >= 3)
    expect(handled).toBeGreaterThanOrEqual(3)
    await expectFailure(runtime.send(Work({}), agentId("a")), "RUNTIME_STOPPED")
  })

  it("sees a condition that changes without messages", async () => {
    await using runtime = await withHandler(() => {})
    let done = false
    setTimeout(() => (done = true), 1)
    await runtime.stopWhen(() => done)
    await expectFailure(runtime.send(Work({}), agentId("a")), "RUNTIME_STOPPED")
  })

  it("stops and rejects when the condition throws", async () => {
    await using runtime = await withHandler(() => {})
    const stopped = runtime.stopWhen(() => Promise.reject(new Error("bad condition")))
    await expect(stopped).rejects.toThrow("bad condition")
    await expectFailure(runtime.send(Work({}), agentId("a")), "RUNTIME_STOPPED")
  })
})

describe("close", () => {
  it("closes every agent once, also when some fail to", async () => {
    const closed: string[] = []
    class Closing extends RoutedAgent {
      override close(): void {
        closed.push(this.id.key)
        if (this.id.key.startsWith("bad")) throw new Error(`no: ${this.id.key}`)
      }
    }
    const runtime = new SingleThreadedAgentRuntime()
    await runtime.register("c", () => new Closing("Closes."))
    for (const key of ["x", "bad-1", "y", "bad-2"]) await runtime.agentMetadata(agentId("c", key))
    const error = await expectFailure(runtime.close(), "AGENT_CLOSE_FAILED", /2 of 4.*c\/bad-1, c\/bad-2/)
    expect(error.cause).toBeInstanceOf(AggregateError)
    expect(closed.toSorted()).toEqual(["bad-1", "bad-2", "x", "y"])
    await expectFailure(runtime.send(Work({}), agentId("c")), "RUNTIME_STOPPED", /closed.*Make a new one/)
    await expectFailure(
      runtime.register("d", () => new Closing("x")),
      "RUNTIME_STOPPED",
    )
  })

  it("closes an agent whose factory ends after the close", async () => {
    const called = gate()
    const opened = gate()
    const closed = gate()
    class Late extends RoutedAgent {
      override close(): void {
        closed.open()
      }
    }
    const runtime = new SingleThreadedAgentRuntime()
    await runtime.register("late", async () => {
      called.open()
      await opened.promise
      return new Late("late")
    })
    runtime.start()
    const sent = runtime.send(Work({}), agentId("late"))
    await called.promise
    await Promise.all([runtime.close(), expectFailure(sent, "RUNTIME_STOPPED")])
    opened.open()
    await closed.promise
  })
})

describe("ignoreUnhandledExceptions: false", () => {
  it("stops at the first error of a publication and surfaces it once", async () => {
    const boom = new Error("boom")
    const runtime = await withHandler(() => Promise.reject(boom), {
      ...quiet,
      ignoreUnhandledExceptions: false,
    })
    const publications = [1, 2, 3].map(() => runtime.publish(Work({})))
    const waiting = runtime.send(Work({}), agentId("a"))
    await Promise.all(publications)
    const error = await expectFailure(waiting, "RUNTIME_STOPPED", /after an unhandled exception/)
    expect(error.cause).toBe(boom)
    await expect(runtime.stopWhenIdle()).rejects.toBe(boom)
    await runtime.stop()
    runtime.start()
    await runtime.close()
  })

  it("surfaces from close when nobody asked before", async () => {
    const runtime = await withHandler(() => Promise.reject(new Error("unseen")), {
      ...quiet,
      ignoreUnhandledExceptions: false,
    })
    await runtime.publish(Work({}))
    await new Promise(setImmediate)
    await expect(runtime.close()).rejects.toThrow("unseen")
  })

  it("leaves errors of sends to their callers", async () => {
    await using runtime = await withHandler(() => Promise.reject(new Error("mine")), {
      ...quiet,
      ignoreUnhandledExceptions: false,
    })
    await expect(runtime.send(Work({}), agentId("a"))).rejects.toThrow("mine")
    await runtime.stopWhenIdle()
  })
})

describe("a busy runtime", () => {
  it("lets timers run while agents keep each other busy for ever", async () => {
    await using runtime = await withHandler(async () => runtime.publish(Work({})))
    let handled = 0
    runtime.on("message-delivered", () => (handled += 1))
    await runtime.publish(Work({}))
    const isBusy = vi.waitUntil(() => handled > 100, { interval: 1, timeout: 4_000 })
    await expect(isBusy).resolves.toBe(true)
    await runtime.stop()
  })
})
