import assert from "node:assert/strict"
import { type JsonObject, RoutedAgent, agentId, topicId, typeSubscription } from "../../core/index.ts"
import { rejectionOf, rejectsWith } from "../expectations.ts"
import type { TestedRuntime } from "../runtime-subject.ts"
import { Add, type OpenStage, type RuntimeSuite, type Stage, Total, latch, say } from "./runtime-suite.ts"

class Counter extends RoutedAgent {
  #total = 0
  #isBusy = false

  constructor() {
    super("Counts.")
    this.on(Add, async ({ by }) => {
      this.#isBusy = true
      const before = this.#total
      await new Promise(setImmediate)
      this.#total = before + by
      this.#isBusy = false
      return Total({ value: this.#total })
    })
  }

  override saveState(): JsonObject {
    return { total: this.#total, isBusy: this.#isBusy }
  }

  override loadState({ total }: JsonObject): void {
    if (typeof total !== "number") throw new Error("total is no number")
    this.#total = total
  }
}

async function counting(open: OpenStage): Promise<Stage> {
  const stage = await open()
  await stage.register("counter", () => new Counter())
  await stage.start()
  return stage
}

const add = async (runtime: TestedRuntime, by: number, key = "default"): Promise<number> =>
  (await runtime.send(Add({ by }), agentId("counter", key), { expect: Total })).value

const stateOf = (agents: JsonObject): JsonObject => ({
  type: "RuntimeState",
  version: 1,
  agents,
  subscriptions: [],
})

export function defineRuntimeStates({ it }: RuntimeSuite): void {
  it("of one agent are saved and loaded, from wherever", async (open) => {
    const { away } = await counting(open)
    await add(away, 3)
    assert.deepEqual(await away.saveAgentState(agentId("counter")), { total: 3, isBusy: false })
    await away.loadAgentState(agentId("counter"), { total: 40 })
    assert.equal(await add(away, 2), 42)
    // One that was not built yet is built for it.
    await away.loadAgentState(agentId("counter", "new"), { total: 5 })
    assert.equal(await add(away, 1, "new"), 6)
  })

  it("of one agent are taken between two of its messages, never in the middle of one", async (open) => {
    const { away } = await counting(open)
    const adding: Promise<number>[] = []
    const saving: Promise<JsonObject>[] = []
    for (let time = 0; time < 5; time += 1) {
      adding.push(add(away, 1))
      saving.push(away.saveAgentState(agentId("counter")))
    }
    assert.deepEqual(await Promise.all(adding), [1, 2, 3, 4, 5])
    for (const { total, isBusy } of await Promise.all(saving)) {
      assert.equal(isBusy, false)
      assert.ok(Number.isInteger(total))
    }
  })

  it("of one agent wait for a handler that runs, unless the caller gives up", async (open) => {
    const { away, agent, start } = await open()
    const begun = latch()
    const ended = latch()
    await agent("slow", async () => {
      begun.open()
      await ended.opened
    })
    await start()
    const sent = away.send(say(""), agentId("slow"))
    await begun.opened
    const controller = new AbortController()
    const saving = away.saveAgentState(agentId("slow"), { signal: controller.signal })
    controller.abort(new Error("no time"))
    assert.equal(await rejectionOf(saving), controller.signal.reason)
    const patient = away.saveAgentState(agentId("slow"))
    ended.open()
    assert.deepEqual(await patient, {})
    await sent
  })

  it("that an agent refuses, or that are no JSON, fail with its name", async (open) => {
    class Leaky extends RoutedAgent {
      override saveState(): JsonObject {
        return { when: new Date(0) } as never
      }
    }
    const { away, register, agent, start } = await open()
    await register("counter", () => new Counter())
    await register("leaky", () => new Leaky("Leaks."))
    await agent("plain", () => {})
    await start()
    const bad = away.loadAgentState(agentId("counter", "k"), { total: "x" })
    await rejectsWith(bad, "STATE_INVALID", /counter\/k.*no number/)
    await rejectsWith(
      away.saveAgentState(agentId("leaky")),
      "STATE_INVALID",
      /leaky\/default.*when is a Date/,
    )
    await away.loadAgentState(agentId("plain"), {})
    await rejectsWith(away.loadAgentState(agentId("plain"), { x: 1 }), "STATE_INVALID", /plain\/default.*x/)
  })

  it("of all agents, and added subscriptions, go to another runtime through JSON", async (open) => {
    const first = await counting(open)
    await add(first.home, 1, "a")
    await add(first.home, 2, "b")
    await first.home.addSubscription(typeSubscription("sums", "counter"))
    await first.home.whenIdle()
    const state = JSON.parse(JSON.stringify(await first.home.saveState())) as JsonObject
    await add(first.home, 100, "a")
    const { home: second } = await counting(open)
    await second.loadState(state)
    assert.equal(await add(second, 10, "a"), 11)
    await second.publish(Add({ by: 100 }), topicId("sums", "b"))
    await second.whenIdle()
    assert.equal(await add(second, 0, "b"), 102)
  })

  it("of all are restored whole, or nothing changes", async (open) => {
    const { home } = await counting(open)
    await add(home, 7, "a")
    await home.whenIdle()
    const broken = stateOf({ "counter/a": { total: 1 }, "counter/broken": { total: "x" } })
    await rejectsWith(home.loadState(broken), "STATE_INVALID", /counter\/broken/)
    await rejectsWith(home.loadState(stateOf({ "ghost/a": {} })), "STATE_INVALID", /ghost/)
    await rejectsWith(home.loadState({}), "STATE_INVALID", /type/)
    assert.equal(await add(home, 0, "a"), 7)
  })

  it("of all are refused while anything is under way", async (open) => {
    const { home, agent, start } = await open()
    const begun = latch()
    const ended = latch()
    await agent("slow", () => (begun.open(), ended.opened))
    await start()
    const sent = home.send(say(""), agentId("slow"))
    await begun.opened
    await rejectsWith(home.saveState(), "RUNTIME_BUSY")
    await rejectsWith(home.loadState({}), "RUNTIME_BUSY")
    ended.open()
    await sent
    await home.whenIdle()
    await home.saveState()
  })
}
