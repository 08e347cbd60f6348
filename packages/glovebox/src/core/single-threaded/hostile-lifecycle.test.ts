import { describe, expect, it } from "vitest"
import { z } from "zod"
import {
  ClosureAgent,
  type JsonObject,
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

describe("a build that fails for another caller", () => {
  const failing = async (options = {}): Promise<SingleThreadedAgentRuntime> => {
    const runtime = new SingleThreadedAgentRuntime({ ...quiet, ...options })
    await runtime.register("a", () => {
      throw new Error("no")
    })
    return runtime
  }

  it("refuses the sends that wait, before the start and after", async () => {
    await using runtime = await failing()
    const early = runtime.send(Ping({}), A)
    await expectFailure(runtime.agentMetadata(A), "AGENT_CREATION_FAILED")
    await expectFailure(early, "AGENT_CREATION_FAILED")
    runtime.start()
    const late = runtime.send(Ping({}), A)
    await expectFailure(runtime.agentMetadata(A), "AGENT_CREATION_FAILED")
    await expectFailure(late, "AGENT_CREATION_FAILED")
    await runtime.stopWhenIdle()
  })

  it("refuses a send that an intervention still holds", async () => {
    const decided = gate()
    const onSend = async (): Promise<{ action: "allow" }> => (await decided.promise, { action: "allow" })
    await using runtime = await failing({ interventions: [{ onSend }] })
    runtime.start()
    const sent = runtime.send(Ping({}), A)
    await expectFailure(runtime.agentMetadata(A), "AGENT_CREATION_FAILED")
    await expectFailure(sent, "AGENT_CREATION_FAILED")
    decided.open()
    await runtime.stopWhenIdle()
  })
})

describe("a factory that already waits for an agent", () => {
  it("is answered when that agent comes to wait for what it builds", async () => {
    const runtime = new SingleThreadedAgentRuntime(quiet)
    await using _ = runtime
    const building = gate()
    await runtime.register(
      "a",
      () =>
        new ClosureAgent([Ping], async ({ n }, _context, agent) => {
          if (n !== 1) return
          await building.promise
          await agent.send(Ping({}), agentId("b"))
        }),
    )
    await runtime.register("b", async () => {
      const asked = runtime.send(Ping({ n: 5 }), A)
      building.open()
      await asked
      return new ClosureAgent([Ping], () => {})
    })
    runtime.start()
    const sends = [
      runtime.send(Ping({ n: 1 }), A, { timeoutMs: 2_000 }),
      runtime.send(Ping({}), agentId("b")),
    ]
    expect(await Promise.all(sends)).toEqual([undefined, undefined])
  })
})

describe("a stop in a handler", () => {
  it("waits for a handler that does not wait for it", async () => {
    const runtime = new SingleThreadedAgentRuntime(quiet)
    await using _ = runtime
    const order: string[] = []
    await runtime.register(
      "p",
      () =>
        new ClosureAgent([Ping], async (_message, { signal }, agent) => {
          void agent.send(Ping({}), agentId("q")).catch(() => {})
          await new Promise((resolve) => signal.addEventListener("abort", resolve))
          await new Promise(setImmediate)
          order.push("p ended")
        }),
    )
    await runtime.register(
      "q",
      () => new ClosureAgent([Ping], () => runtime.stop().then(() => void order.push("stopped"))),
    )
    runtime.start()
    await runtime.send(Ping({}), agentId("p")).catch(() => {})
    await runtime.stop()
    await expect.poll(() => order).toContain("p ended")
  })

  it("gives the handler up when the runtime starts again", async () => {
    let calls = 0
    await using runtime = await runtimeWith(Ping, () => {
      calls += 1
      if (calls > 1) return undefined
      void runtime.stop({ graceMs: 1 })
      return new Promise<void>(() => {})
    })
    await expectFailure(runtime.send(Ping({}), A), "RUNTIME_STOPPED")
    await runtime.stop()
    runtime.start()
    await runtime.send(Ping({}), A)
    await runtime.stopWhenIdle()
  })

  it("may join a close, and can be given up", async () => {
    const begun = gate()
    const runtime = await runtimeWith(Ping, async (_message, { signal }) => {
      begun.open()
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
      await runtime.close()
    })
    const sent = runtime.send(Ping({}), A)
    await begun.promise
    await Promise.all([runtime.close(), expectFailure(sent, "RUNTIME_STOPPED")])
    const hanging = await runtimeWith(Ping, () => new Promise<void>(() => {}))
    const lost = hanging.send(Ping({}), A)
    await new Promise(setImmediate)
    const controller = new AbortController()
    const stopping = hanging.stop({ graceMs: 60_000, signal: controller.signal })
    await expectFailure(lost, "RUNTIME_STOPPED")
    controller.abort(new Error("not that long"))
    await expect(stopping).rejects.toThrow("not that long")
  })
})

describe("states", () => {
  class Slow extends RoutedAgent {
    value = 0
    readonly begun = gate()
    readonly ended = gate()
    constructor() {
      super("Loads slowly.")
      this.on(Ping, () => Ping({ n: this.value }))
    }
    override saveState(): JsonObject {
      return { value: this.value }
    }
    override async loadState({ value }: JsonObject): Promise<void> {
      if (value === 7) {
        this.begun.open()
        await this.ended.promise
      }
      this.value = Number(value)
    }
  }

  it("loaded for a caller who gives up are undone before any message is handled", async () => {
    const slow = new Slow()
    await using runtime = new SingleThreadedAgentRuntime(quiet)
    await runtime.registerInstance(A, slow)
    runtime.start()
    const controller = new AbortController()
    const state = {
      type: "RuntimeState",
      version: 1,
      agents: { "a/default": { value: 7 } },
      subscriptions: [],
    }
    const loading = runtime.loadState(state, { signal: controller.signal })
    await slow.begun.promise
    controller.abort(new Error("too slow"))
    await expect(loading).rejects.toThrow("too slow")
    const asked = runtime.send(Ping({}), A, { expect: Ping })
    slow.ended.open()
    expect((await asked).n).toBe(0)
  })

  it("may be asked for inside a save, and a factory may not send inside a load", async () => {
    class Parent extends Slow {
      override saveState(): JsonObject {
        return this.runtime.saveAgentState(agentId("child")) as never
      }
    }
    const runtime = new SingleThreadedAgentRuntime(quiet)
    await using _ = runtime
    await runtime.register("child", () => new Slow())
    await runtime.register("parent", () => new Parent())
    await runtime.register("asking", async () => {
      await runtime.send(Ping({}), agentId("child"))
      return new Slow()
    })
    runtime.start()
    await runtime.send(Ping({}), agentId("parent"))
    await runtime.whenIdle()
    expect(await runtime.saveState()).toMatchObject({ agents: { "parent/default": { value: 0 } } })
    const state = {
      type: "RuntimeState",
      version: 1,
      agents: { "asking/x": { value: 1 } },
      subscriptions: [],
    }
    await expectFailure(runtime.loadState(state), "AGENT_CREATION_FAILED", /cannot send while its state/)
    await runtime.send(Ping({}), agentId("child"))
  })
})
