import { describe, expect, it } from "vitest"
import { z } from "zod"
import {
  ClosureAgent,
  RoutedAgent,
  SingleThreadedAgentRuntime,
  agentId,
  defineMessage,
  silentLogger,
} from "../index.ts"
import { expectFailure } from "../expect-failure.test-kit.ts"
import { gate } from "../gate.test-kit.ts"
import { runtimeWith } from "../runtime-with.test-kit.ts"

const Ping = defineMessage("Ping", z.object({ n: z.number().default(0) }))
const A = agentId("a")
const quiet = { logger: silentLogger }

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
    await using runtime = await runtimeWith(Ping, (message) => void seen.push(message), {
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
