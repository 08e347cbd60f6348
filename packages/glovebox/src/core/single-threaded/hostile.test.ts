import { describe, expect, it } from "vitest"
import { z } from "zod"
import {
  type Closure,
  ClosureAgent,
  type SingleThreadedAgentRuntime,
  type SingleThreadedAgentRuntimeOptions,
  agentId,
  defaultSubscription,
  defineMessage,
  silentLogger,
} from "../index.ts"
import { expectFailure } from "../expect-failure.test-kit.ts"
import { gate } from "../gate.test-kit.ts"
import { runtimeWith } from "../runtime-with.test-kit.ts"

const Ping = defineMessage("Ping", z.object({ n: z.number().default(0) }))
const A = agentId("a")
const quiet = { logger: silentLogger }

const withHandler = (
  handler: Closure<readonly [typeof Ping]>,
  options?: SingleThreadedAgentRuntimeOptions,
): Promise<SingleThreadedAgentRuntime> => runtimeWith(Ping, handler, options)

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

describe("a stop", () => {
  it("of a stopped runtime does not touch the run that follows", async () => {
    const ended = gate()
    await using runtime = await withHandler(() => ended.promise)
    await runtime.stop()
    const late = runtime.stop()
    runtime.start()
    const sent = runtime.send(Ping({}), A)
    await late
    await new Promise(setImmediate)
    ended.open()
    await sent
    await runtime.stopWhenIdle()
    await expectFailure(runtime.send(Ping({}), A), "RUNTIME_STOPPED")
  })

  it("inside a listener of the stop, after a start there, is not lost", async () => {
    await using runtime = await withHandler(() => {})
    let restarted = false
    let second: Promise<void> | undefined
    runtime.on("runtime-stopped", () => {
      if (restarted) return
      restarted = true
      runtime.start()
      second = runtime.stop()
    })
    await runtime.stop()
    await second
    await expectFailure(runtime.send(Ping({}), A), "RUNTIME_STOPPED")
  })

  it("frees an agent whose handler never ended", async () => {
    let calls = 0
    await using runtime = await withHandler(() => {
      calls += 1
      return calls === 1 ? new Promise<void>(() => {}) : undefined
    })
    const first = runtime.send(Ping({}), A)
    await new Promise(setImmediate)
    await Promise.all([runtime.stop({ graceMs: 0 }), expectFailure(first, "RUNTIME_STOPPED")])
    runtime.start()
    await runtime.send(Ping({}), A)
    await runtime.stopWhenIdle()
  })

  it.each([Infinity, -1, Number.NaN, "5"])("with a grace of %j is refused", async (graceMs) => {
    await using runtime = await withHandler(() => {})
    await expectFailure(runtime.stop({ graceMs: graceMs as number }), "OPTION_INVALID", /graceMs/)
  })
})

describe("a listener", () => {
  it("that ends a send as it is sent leaves the mailbox in order", async () => {
    await using runtime = await withHandler(() => {})
    const controller = new AbortController()
    const listener = runtime.on("message-sent", () => controller.abort(new Error("no")))
    await expect(runtime.send(Ping({}), A, { signal: controller.signal })).rejects.toThrow("no")
    listener[Symbol.dispose]()
    await runtime.send(Ping({}), A)
    await runtime.stopWhenIdle()
  })

  it("that withdraws a publication as it is published is heard", async () => {
    let handled = 0
    await using runtime = await withHandler(() => void (handled += 1))
    const controller = new AbortController()
    runtime.on("message-published", () => controller.abort(new Error("no")))
    await runtime.publish(Ping({}), undefined, { signal: controller.signal }).catch(() => {})
    await runtime.stopWhenIdle()
    expect(handled).toBe(0)
  })
})

describe("what a handler gives", () => {
  const throwing = {
    get then(): never {
      throw new Error("then")
    },
  }
  const ownThen = (): Promise<void> =>
    Object.defineProperty(Promise.resolve(), "then", { get: () => throwing.then })
  const untouchable = (): object =>
    new Proxy({}, { get: (_target, key) => (key === "then" ? undefined : thrower()) })

  it.each([
    ["an object whose then throws", () => throwing],
    ["a revoked proxy", revoked],
    ["a promise with a then of its own", ownThen],
    ["a promise for a proxy that cannot be asked", () => Promise.resolve(untouchable())],
    ["a thenable that settles twice", () => ({ then: (done: (v: number) => void) => (done(1), done(2)) })],
  ])("as %s settles the send and leaves the agent able to go on", async (_name, give) => {
    await using runtime = await withHandler(({ n }) => (n === 1 ? (give() as never) : undefined))
    await expect(runtime.send(Ping({ n: 1 }), A)).rejects.toThrow(/./)
    expect(await runtime.send(Ping({ n: 2 }), A)).toBeUndefined()
    await runtime.stopWhenIdle()
  })

  it("as a thrown revoked proxy reaches the sender and nobody else", async () => {
    await using runtime = await withHandler(({ n }) => (n === 1 ? Promise.reject(revoked()) : undefined))
    const outcome = await runtime.send(Ping({ n: 1 }), A).then(
      () => "resolved",
      () => "rejected",
    )
    expect(outcome).toBe("rejected")
    await runtime.publish(Ping({ n: 1 }))
    await runtime.stopWhenIdle()
  })
})

describe("a send", () => {
  it.each([{}, 5, null])("that expects %j is refused", async (expected) => {
    await using runtime = await withHandler(() => {})
    await expectFailure(
      runtime.send(Ping({}), A, { expect: expected as never }),
      "MESSAGE_INVALID",
      /message type/,
    )
    await runtime.stopWhenIdle()
  })

  it.each([{}, 5, "abort"])("with %j as its signal is refused", async (signal) => {
    await using runtime = await withHandler(() => {})
    await expectFailure(
      runtime.send(Ping({}), A, { signal: signal as never }),
      "OPTION_INVALID",
      /AbortSignal/,
    )
    await expectFailure(runtime.publish(Ping({}), undefined, { signal: signal as never }), "OPTION_INVALID")
  })

  it("of an agent without an id is a rejection, not a throw", async () => {
    const agent = new ClosureAgent([Ping], () => {})
    await expectFailure(agent.send(Ping({}), A), "AGENT_UNBOUND")
    await expectFailure(agent.publish(Ping({})), "AGENT_UNBOUND")
  })

  it("by thousands on one signal warns of nothing", async () => {
    await using runtime = await withHandler(() => {})
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on("warning", onWarning)
    const { signal } = new AbortController()
    await Promise.all(Array.from({ length: 2_000 }, () => runtime.send(Ping({}), A, { signal })))
    await new Promise(setImmediate)
    process.off("warning", onWarning)
    expect(warnings).toEqual([])
  })
})

describe("an unreachable subscriber", () => {
  it("stops a runtime that ignores nothing, which still becomes idle", async () => {
    const runtime = await withHandler(() => {}, { ...quiet, ignoreUnhandledExceptions: false })
    await runtime.registerInstance(agentId("one", "elsewhere"), new ClosureAgent([Ping], () => {}), {
      subscriptions: [defaultSubscription()],
    })
    await runtime.register("z", () => new ClosureAgent([Ping], () => {}), {
      subscriptions: [defaultSubscription()],
    })
    await runtime.publish(Ping({})).catch(() => {})
    await expectFailure(runtime.stopWhenIdle(), "AGENT_UNKNOWN")
    await runtime.close()
  })
})

describe("a tracer that throws", () => {
  const failing = (): never => {
    throw new Error("tracer")
  }
  const span = {
    spanContext: () => ({ traceId: "0".repeat(32), spanId: "0".repeat(16), traceFlags: 0 }),
    end: failing,
  }

  it.each([
    ["at its start", { getTracer: () => ({ startSpan: failing }) }],
    ["at its end", { getTracer: () => ({ startSpan: () => span }) }],
    ["because it is none", {}],
  ])("%s takes no message with it", async (_name, tracerProvider) => {
    const runtime = await withHandler(() => {}, { ...quiet, tracerProvider: tracerProvider as never })
    await runtime.send(Ping({}), A)
    await runtime.publish(Ping({}))
    await runtime.stopWhenIdle()
    expect(await runtime.saveState()).toMatchObject({ type: "RuntimeState" })
    await runtime.close()
  })
})

describe("a busy agent", () => {
  it("that computes for long leaves timers their turn", async () => {
    const busyMs = 4
    await using runtime = await withHandler(() => {
      const until = performance.now() + busyMs
      while (performance.now() < until) {
        // Computing.
      }
    })
    let ticks = 0
    const timer = setInterval(() => (ticks += 1), 1)
    await Promise.all(Array.from({ length: 60 }, () => runtime.send(Ping({}), A)))
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(4)
  })

  it("answers a deep recursion of requests in time that does not grow with its square", async () => {
    await using runtime = await withHandler(
      async ({ n }, _context, agent) => void (n > 0 && (await agent.send(Ping({ n: n - 1 }), agent.id))),
    )
    expect(await runtime.send(Ping({ n: 3_000 }), A)).toBeUndefined()
    await runtime.stopWhenIdle()
  })

  it("that waits for thousands answers each of them", async () => {
    await using runtime = await withHandler(async ({ n }, _context, agent) => {
      if (n > 0) return
      const workers = Array.from({ length: 2_000 }, (_, key) => agent.send(Ping({}), agentId("w", `k${key}`)))
      await Promise.all(workers)
    })
    await runtime.register(
      "w",
      () => new ClosureAgent([Ping], async (_m, _c, agent) => void (await agent.send(Ping({ n: 1 }), A))),
    )
    expect(await runtime.send(Ping({}), A)).toBeUndefined()
    await runtime.stopWhenIdle()
  })
})

function thrower(): never {
  throw new Error("not to be asked")
}
