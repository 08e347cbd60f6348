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
  topicId,
  typeSubscription,
} from "./index.ts"
import { expectFailure } from "./expect-failure.test-kit.ts"
import { gate } from "./gate.test-kit.ts"

const Add = defineMessage("Add", z.object({ by: z.number() }))
const Total = defineMessage("Total", z.object({ value: z.number() }))

class Counter extends RoutedAgent {
  #total = 0
  // One live object, so that a checkpoint which shares it would change.
  readonly #history: number[] = []

  constructor() {
    super("Counts.")
    this.on(Add, async ({ by }) => {
      const before = this.#total
      await Promise.resolve()
      this.#total = before + by
      this.#history.push(by)
      return Total({ value: this.#total })
    })
  }

  override saveState(): JsonObject {
    return { total: this.#total, history: this.#history }
  }

  override loadState(state: JsonObject): void {
    const { total, history } = z.object({ total: z.number(), history: z.array(z.number()) }).parse(state)
    this.#total = total
    this.#history.splice(0, this.#history.length, ...history)
  }
}

async function counting(): Promise<SingleThreadedAgentRuntime> {
  const runtime = new SingleThreadedAgentRuntime({ logger: silentLogger })
  await runtime.register("counter", () => new Counter())
  runtime.start()
  return runtime
}

const add = (runtime: SingleThreadedAgentRuntime, by: number, key = "default"): Promise<{ value: number }> =>
  runtime.send(Add({ by }), agentId("counter", key), { expect: Total })

describe("saveState and loadState", () => {
  it("carry all agents and added subscriptions to another runtime, through JSON", async () => {
    await using first = await counting()
    await add(first, 1, "a")
    await add(first, 2, "b")
    await first.addSubscription(typeSubscription("sums", "counter"))
    const state = JSON.parse(JSON.stringify(await first.saveState())) as JsonObject
    await using second = await counting()
    await second.loadState(state)
    expect((await add(second, 10, "a")).value).toBe(11)
    await second.publish(Add({ by: 100 }), topicId("sums", "b"))
    await second.whenIdle()
    expect((await add(second, 0, "b")).value).toBe(102)
    await second.whenIdle()
    await second.loadState(state)
    expect(second.subscriptions).toHaveLength(1)
  })

  it("take a copy that later work does not change", async () => {
    await using runtime = await counting()
    await add(runtime, 1)
    const state = await runtime.saveState()
    await add(runtime, 1)
    expect(state).toMatchObject({ agents: { "counter/default": { total: 1, history: [1] } } })
  })

  it("are refused while anything is under way, so that nothing is left out", async () => {
    const runtime = await counting()
    await using _ = runtime
    const sent = add(runtime, 1)
    await Promise.all([
      expectFailure(runtime.saveState(), "RUNTIME_BUSY", /1 messages.*whenIdle/),
      expectFailure(runtime.loadState({}), "RUNTIME_BUSY"),
    ])
    await sent
    await runtime.whenIdle()
    const saving = runtime.saveState()
    const later = add(runtime, 5)
    expect(await saving).toMatchObject({ agents: { "counter/default": { total: 1 } } })
    expect((await later).value).toBe(6)
  })

  it.each([
    [{}, /type/],
    [{ type: "RuntimeState", version: 2, agents: {}, subscriptions: [] }, /version/],
    [
      { type: "RuntimeState", version: 1, agents: { "counter/a": 3 }, subscriptions: [] },
      /agents\.counter\/a/,
    ],
    [
      { type: "RuntimeState", version: 1, agents: { "ghost/a": {} }, subscriptions: [] },
      /not registered: ghost/,
    ],
    [{ type: "RuntimeState", version: 1, agents: {}, subscriptions: [], more: 1 }, /more/],
  ])("refuse %j", async (state, message) => {
    await using runtime = await counting()
    await expectFailure(runtime.loadState(state), "STATE_INVALID", message)
  })

  it("restore all agents or none", async () => {
    await using runtime = await counting()
    await add(runtime, 7, "a")
    await runtime.whenIdle()
    const state = {
      type: "RuntimeState",
      version: 1,
      agents: {
        "counter/a": { total: 1, history: [] },
        "counter/new": { total: 2, history: [] },
        "counter/broken": { total: "x", history: [] },
      },
      subscriptions: [],
    }
    await expectFailure(runtime.loadState(state), "STATE_INVALID", /counter\/broken could not load/)
    expect((await add(runtime, 0, "a")).value).toBe(7)
    expect((await add(runtime, 0, "new")).value).toBe(0)
  })

  it("name the agent whose state is not JSON, and where", async () => {
    class Leaky extends RoutedAgent {
      override saveState(): JsonObject {
        return { nested: { when: new Date(0) } } as never
      }
    }
    await using runtime = new SingleThreadedAgentRuntime()
    await runtime.register("leaky", () => new Leaky("leaks"))
    await runtime.agentMetadata(agentId("leaky"))
    await expectFailure(runtime.saveState(), "STATE_INVALID", /leaky\/default.*nested\.when is a Date/)
  })

  it("fail loudly for an agent that keeps no state but is given one", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    await runtime.register("plain", () => new ClosureAgent([], () => {}))
    await runtime.loadAgentState(agentId("plain"), {})
    await expectFailure(
      runtime.loadAgentState(agentId("plain"), { x: 1 }),
      "STATE_INVALID",
      /plain\/default.*x/,
    )
  })
})

describe("saveAgentState and loadAgentState", () => {
  it("act between two messages of the agent, in their place in the order", async () => {
    await using runtime = await counting()
    const before = add(runtime, 1)
    const saving = runtime.saveAgentState(agentId("counter"))
    const after = add(runtime, 1)
    expect([(await before).value, (await after).value]).toEqual([1, 2])
    expect(await saving).toEqual({ total: 1, history: [1] })
    await runtime.loadAgentState(agentId("counter"), { total: 40, history: [] })
    expect((await add(runtime, 2)).value).toBe(42)
  })

  it("wait for a handler that runs, unless the caller gives up", async () => {
    const ended = gate()
    const begun = gate()
    await using runtime = new SingleThreadedAgentRuntime()
    await runtime.register(
      "slow",
      () =>
        new ClosureAgent([Add], async () => {
          begun.open()
          await ended.promise
        }),
    )
    runtime.start()
    const sent = runtime.send(Add({ by: 1 }), agentId("slow"))
    await begun.promise
    const controller = new AbortController()
    const saving = runtime.saveAgentState(agentId("slow"), { signal: controller.signal })
    await Promise.resolve()
    controller.abort(new Error("no time"))
    await expect(saving).rejects.toThrow("no time")
    const patient = runtime.saveAgentState(agentId("slow"))
    ended.open()
    expect(await patient).toEqual({})
    await sent
  })

  it("work before the start and after the stop", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    await runtime.register("counter", () => new Counter())
    await runtime.loadAgentState(agentId("counter"), { total: 3, history: [3] })
    runtime.start()
    expect((await add(runtime, 1)).value).toBe(4)
    await runtime.stop()
    expect(await runtime.saveAgentState(agentId("counter"))).toEqual({ total: 4, history: [3, 1] })
  })
})

describe("a state that goes wrong", () => {
  class Sender extends RoutedAgent {
    constructor() {
      super("Sends while it saves.")
      this.on(Add, () => {})
    }
    override async saveState(): Promise<JsonObject> {
      await this.send(Add({ by: 1 }), this.id)
      return {}
    }
  }

  it("because an agent sends while it saves is refused, and the runtime goes on", async () => {
    await using runtime = new SingleThreadedAgentRuntime({ logger: silentLogger })
    await runtime.register("sender", () => new Sender())
    runtime.start()
    await runtime.send(Add({ by: 1 }), agentId("sender"))
    await runtime.whenIdle()
    await expectFailure(runtime.saveState(), "STATE_INVALID", /sender\/default could not save.*cannot send/)
    await runtime.send(Add({ by: 1 }), agentId("sender"))
  })

  it("because a save hangs ends when the caller gives up, and the runtime goes on", async () => {
    class Hanging extends Counter {
      override saveState(): JsonObject {
        return new Promise(() => {}) as never
      }
    }
    await using runtime = new SingleThreadedAgentRuntime({ logger: silentLogger })
    await runtime.register("counter", () => new Hanging())
    runtime.start()
    await add(runtime, 1)
    await runtime.whenIdle()
    const controller = new AbortController()
    const saving = runtime.saveState({ signal: controller.signal })
    controller.abort(new Error("too slow"))
    await expect(saving).rejects.toThrow("too slow")
    expect((await add(runtime, 1)).value).toBe(2)
  })

  it("lets two saves follow each other, with no message between them", async () => {
    await using runtime = await counting()
    await add(runtime, 1)
    await runtime.whenIdle()
    const saves = [runtime.saveState(), runtime.saveState()]
    const later = add(runtime, 1)
    for (const state of await Promise.all(saves)) {
      expect(state).toMatchObject({ agents: { "counter/default": { total: 1 } } })
    }
    expect((await later).value).toBe(2)
  })

  it("leaves a message that comes while a load fails to an agent that is open", async () => {
    await using runtime = await counting()
    const state = {
      type: "RuntimeState",
      version: 1,
      agents: { "counter/new": { total: 2, history: [] }, "counter/broken": { total: "x", history: [] } },
      subscriptions: [],
    }
    const loading = runtime.loadState(state)
    const sent = add(runtime, 5, "new")
    await expectFailure(loading, "STATE_INVALID")
    expect((await sent).value).toBe(5)
  })

  it("adds no subscription when one of them cannot be added", async () => {
    await using runtime = await counting()
    const good = typeSubscription("good", "counter")
    const state = {
      type: "RuntimeState",
      version: 1,
      agents: {},
      subscriptions: [good, { ...good, topicType: "other" }],
    }
    await expectFailure(runtime.loadState(state as never), "SUBSCRIPTION_ALREADY_EXISTS")
    expect(runtime.subscriptions).toEqual([])
  })

  it("cannot be taken of an agent while the runtime stops", async () => {
    const runtime = new SingleThreadedAgentRuntime({ logger: silentLogger })
    const ended = gate()
    const begun = gate()
    await runtime.register("slow", () => new ClosureAgent([Add], () => (begun.open(), ended.promise)))
    runtime.start()
    const sent = runtime.send(Add({ by: 1 }), agentId("slow"))
    await begun.promise
    const stopping = runtime.stop()
    await expectFailure(sent, "RUNTIME_STOPPED")
    await expectFailure(runtime.saveAgentState(agentId("slow")), "RUNTIME_STOPPED")
    ended.open()
    await stopping
    expect(await runtime.saveAgentState(agentId("slow"))).toEqual({})
    await runtime.close()
  })
})
