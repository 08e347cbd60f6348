import { describe, expect, it } from "vitest"
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

describe("a factory", () => {
  it("that fails late leaves one agent for an id, which is closed", async () => {
    const runtime = new SingleThreadedAgentRuntime(quiet)
    let built = 0
    let closed = 0
    class Counted extends RoutedAgent {
      constructor() {
        super("counted")
        built += 1
        this.on(Ping, () => {})
      }
      override close(): void {
        closed += 1
      }
    }
    let fail: ((error: Error) => void) | undefined
    await runtime.register("a", () => {
      if (fail) return new Counted()
      return new Promise<Counted>((_resolve, reject) => {
        fail = reject
      })
    })
    runtime.start()
    const first = runtime.send(Ping({}), A)
    await new Promise(setImmediate)
    fail?.(new Error("late"))
    const second = runtime.send(Ping({}), A).catch(() => "failed with the first")
    await expectFailure(first, "AGENT_CREATION_FAILED")
    await second
    await runtime.send(Ping({}), A)
    await runtime.close()
    expect([built, closed]).toEqual([1, 1])
  })

  it("is not called for messages that were withdrawn", async () => {
    const runtime = new SingleThreadedAgentRuntime(quiet)
    let built = 0
    await runtime.register("a", () => ((built += 1), new ClosureAgent([Ping], () => {})))
    const sends = Array.from({ length: 20 }, (_, key) => runtime.send(Ping({}), agentId("a", `k${key}`)))
    await Promise.all([runtime.stop(), ...sends.map((send) => expectFailure(send, "RUNTIME_STOPPED"))])
    runtime.start()
    await runtime.stopWhenIdle()
    expect(built).toBe(0)
    await runtime.close()
  })

  it("may ask the agent that waits for what it builds", async () => {
    const runtime = new SingleThreadedAgentRuntime(quiet)
    await using _ = runtime
    await runtime.register(
      "a",
      () =>
        new ClosureAgent(
          [Ping],
          async ({ n }, _c, agent) => void (n === 0 && (await agent.send(Ping({}), agentId("b")))),
        ),
    )
    await runtime.register("b", async () => {
      await runtime.send(Ping({ n: 1 }), A)
      return new ClosureAgent([Ping], () => {})
    })
    runtime.start()
    expect(await runtime.send(Ping({}), A, { timeoutMs: 2_000 })).toBeUndefined()
  })

  it("that hangs does not hang a caller who gives up, or a close", async () => {
    const runtime = new SingleThreadedAgentRuntime(quiet)
    await runtime.register("a", () => new Promise<never>(() => {}))
    const controller = new AbortController()
    const asked = runtime.agentMetadata(A, { signal: controller.signal })
    const other = runtime.agentMetadata(A)
    controller.abort(new Error("enough"))
    await expect(asked).rejects.toThrow("enough")
    await Promise.all([runtime.close(), expectFailure(other, "RUNTIME_STOPPED")])
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

describe("sends that nobody waits for", () => {
  it("keep their order and never interleave, also in a circle", async () => {
    const runtime = new SingleThreadedAgentRuntime(quiet)
    await using _ = runtime
    let active = 0
    let most = 0
    const order: number[] = []
    const bounce = (to: string): ClosureAgent<[typeof Ping]> =>
      new ClosureAgent([Ping], async ({ n }, _context, agent) => {
        if (agent.id.type === "a") order.push(n)
        if (agent.id.type === "a") most = Math.max(most, (active += 1))
        if (n < 40) void agent.send(Ping({ n: n + 1 }), agentId(to))
        await Promise.resolve()
        await new Promise(setImmediate)
        if (agent.id.type === "a") active -= 1
      })
    await runtime.register("a", () => bounce("b"))
    await runtime.register("b", () => bounce("a"))
    runtime.start()
    await Promise.all([runtime.send(Ping({}), A), runtime.send(Ping({ n: 1 }), A)])
    await runtime.whenIdle()
    expect(most).toBe(1)
    expect(order.slice(0, 2)).toEqual([0, 1])
  })

  it("become part of a circle when another handler waits for their promise", async () => {
    const runtime = new SingleThreadedAgentRuntime(quiet)
    await using _ = runtime
    let shared: Promise<unknown> | undefined
    const get = (): Promise<unknown> => (shared ??= runtime.send(Ping({ n: 2 }), agentId("b")))
    await runtime.register("x", () => new ClosureAgent([Ping], async () => void (await get())))
    await runtime.register(
      "y",
      () => new ClosureAgent([Ping], async ({ n }) => void (n === 1 && (await Promise.all([get(), get()])))),
    )
    await runtime.register(
      "b",
      () =>
        new ClosureAgent([Ping], async (_message, _context, agent) => {
          await new Promise(setImmediate)
          await agent.send(Ping({ n: 9 }), agentId("y"))
        }),
    )
    runtime.start()
    const sends = ["x", "y"].map((type) => runtime.send(Ping({ n: 1 }), agentId(type), { timeoutMs: 2_000 }))
    expect(await Promise.all(sends)).toEqual([undefined, undefined])
  })

  it("become part of a circle when somebody waits for them later", async () => {
    const runtime = new SingleThreadedAgentRuntime(quiet)
    await using _ = runtime
    const asked = gate()
    await runtime.register(
      "a",
      () =>
        new ClosureAgent([Ping], async ({ n }, _context, agent) => {
          if (n > 0) return
          const later = agent.send(Ping({}), agentId("b"))
          await asked.promise
          await later
        }),
    )
    await runtime.register(
      "b",
      () =>
        new ClosureAgent([Ping], async (_message, _context, agent) => {
          const back = agent.send(Ping({ n: 1 }), A)
          const waiting = back.then(() => "answered")
          asked.open()
          await waiting
        }),
    )
    runtime.start()
    expect(await runtime.send(Ping({}), A, { timeoutMs: 2_000 })).toBeUndefined()
  })
})

describe("an intervention", () => {
  it("on a reply may ask the agent that waits for the reply", async () => {
    const runtime: SingleThreadedAgentRuntime = new SingleThreadedAgentRuntime({
      ...quiet,
      interventions: [
        {
          onResponse: async (_reply, { sender }) => {
            if (sender.type === "b") await runtime.send(Ping({ n: 1 }), A)
            return { action: "allow" }
          },
        },
      ],
    })
    await using _ = runtime
    await runtime.register(
      "a",
      () =>
        new ClosureAgent(
          [Ping],
          async ({ n }, _c, agent) => void (n === 0 && (await agent.send(Ping({}), agentId("b")))),
        ),
    )
    await runtime.register("b", () => new ClosureAgent([Ping], () => {}))
    runtime.start()
    expect(await runtime.send(Ping({}), A, { timeoutMs: 2_000 })).toBeUndefined()
  })

  it("whose replacement changes between two looks lets nothing else through", async () => {
    let looks = 0
    const decision = {
      action: "replace" as const,
      get message() {
        looks += 1
        return looks === 1 ? Ping({}) : ("forged" as never)
      },
    }
    const seen: unknown[] = []
    await using runtime = await withHandler((message) => void seen.push(message), {
      ...quiet,
      interventions: [{ onSend: () => decision }],
    })
    await runtime.send(Ping({ n: 5 }), A)
    expect(seen).toEqual([Ping({})])
  })

  it.each([5, [null], [{ onSend: 5 }], "x"])("given as %j is refused", (interventions) => {
    expect(() => new SingleThreadedAgentRuntime({ interventions: interventions as never })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    )
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
