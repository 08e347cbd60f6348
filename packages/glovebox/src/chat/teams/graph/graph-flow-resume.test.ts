import { describe, expect, it, onTestFinished, vi } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import {
  FunctionalTermination,
  MaxMessageTermination,
  SourceMatchTermination,
  TimeoutTermination,
} from "../../conditions/index.ts"
import type { ScriptedAgent } from "../../scripted-agent.test-kit.ts"
import { DiGraphBuilder, GraphFlow, type GraphFlowOptions } from "./index.ts"
import { Stage, heardBy, texts } from "./stage.test-kit.ts"

/** a, then b and c at once, then d after both. */
function diamond(stage: Stage, options: Partial<GraphFlowOptions> = {}): GraphFlow {
  const [a, b, c, d] = stage.agents("a", "b", "c", "d") as [never, never, never, never]
  const graph = new DiGraphBuilder().addEdge(a, b).addEdge(a, c).addEdge(b, d).addEdge(c, d)
  return new GraphFlow({ graph, ...options })
}

describe("a GraphFlow that was ended in the middle", () => {
  it("goes on after an abort: who had ended is not asked again, who had not is", async () => {
    const stage = new Stage()
    const controller = new AbortController()
    await using flow = diamond(stage)
    stage.hold("c")
    const run = flow.run("go", { signal: controller.signal })
    await stage.begun("c")
    controller.abort(new Error("enough"))
    await expect(run).rejects.toThrow("enough")
    stage.letGo("c")
    const { messages, stopKind } = await flow.run()
    expect({ texts: texts(messages), stopKind }).toEqual({ texts: ["c1", "d1"], stopKind: "completed" })
    expect(await heardBy(flow)).toEqual(["go", "a1", "b1", "c1", "d1"])
  })

  it("goes on after an agent's error, with the agents who spoke at the same time", async () => {
    const stage = new Stage()
    await using flow = diamond(stage)
    stage.hold("c")
    stage.onBegin = async (name) => {
      if (name !== "b") return
      await stage.begun("c")
      throw new Error("broken")
    }
    await expectFailure(flow.run("go"), "AGENT_FAILED", /b failed in its turn: broken/)
    stage.onBegin = () => {}
    stage.letGo("c")
    expect(texts((await flow.run()).messages)).toEqual(["b1", "c1", "d1"])
  })

  it.each<[string, Partial<GraphFlowOptions>]>([
    ["a turn that took too long", { turnTimeout: "1m" }],
    ["a condition that interrupts turns", { terminationCondition: new TimeoutTermination("1m") }],
  ])("goes on after %s", async (_, options) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const stage = new Stage()
    await using flow = diamond(stage, options)
    stage.hold("c")
    const run = flow.run("go").catch((error: unknown) => error)
    await stage.begun("c")
    vi.advanceTimersByTime(60_000)
    expect(await run).toMatchObject(
      options.turnTimeout === undefined ? { stopKind: "condition" } : { code: "TURN_TIMEOUT" },
    )
    stage.letGo("c")
    expect(texts((await flow.run()).messages)).toEqual(["c1", "d1"])
  })

  it("goes on after a condition and after maxTurns, with a task that those hear who are next", async () => {
    const stage = new Stage()
    const terminationCondition = new SourceMatchTermination(["a"])
    await using flow = diamond(stage, { terminationCondition, maxTurns: 2 })
    expect(await flow.run("go")).toMatchObject({ stopKind: "condition" })
    expect(texts((await flow.run("be brief")).messages)).toEqual(["be brief", "b1", "c1"])
    expect(texts((await flow.run()).messages)).toEqual(["d1"])
  })

  it("begins anew after reset", async () => {
    const stage = new Stage()
    await using flow = diamond(stage, { maxTurns: 1 })
    await flow.run("go")
    await flow.reset()
    expect(texts((await flow.run("again")).messages)).toEqual(["again", "a2"])
  })

  it("begins anew when it came to its end, and says so when nothing was left", async () => {
    const stage = new Stage()
    await using flow = diamond(stage)
    expect(texts((await flow.run("one")).messages)).toEqual(["one", "a1", "b1", "c1", "d1"])
    expect(texts((await flow.run("two")).messages)).toEqual(["two", "a2", "b2", "c2", "d2"])
    expect(texts((await flow.run()).messages)).toEqual(["a3", "b3", "c3", "d3"])
    await using stopped = diamond(new Stage(), { terminationCondition: new SourceMatchTermination(["d"]) })
    expect(await stopped.run("one")).toMatchObject({ stopKind: "condition" })
    expect(await stopped.run()).toMatchObject({ stopKind: "completed", messages: [] })
    expect(await stopped.run("two")).toMatchObject({ stopKind: "condition" })
    expect(texts((await stopped.run("three")).messages)).toEqual(["three", "a3", "b3", "c3", "d3"])
  })
})

describe("the state of a GraphFlow", () => {
  it("saved while it runs waits for the turns under way, and another team goes on from there", async () => {
    const stage = new Stage()
    await using flow = diamond(stage)
    stage.hold("b", "c")
    const run = flow.run("go")
    await stage.begun("c")
    const saving = flow.saveState()
    stage.letGo("b", "c")
    const state = JSON.parse(JSON.stringify(await saving)) as never
    expect(texts((await run).messages)).toEqual(["go", "a1", "b1", "c1", "d1"])
    const understudies = new Stage()
    await using other = diamond(understudies)
    await other.loadState(state)
    expect(await other.saveState()).toEqual(state)
    expect(await other.run()).toMatchObject({ stopKind: "completed", messages: [{ content: "d1" }] })
    expect(understudies.record).toEqual(["d>", "d<"])
  })

  it("saved after an interruption is gone on with by another team", async () => {
    const controller = new AbortController()
    const stage = new Stage()
    await using flow = diamond(stage)
    stage.hold("c")
    const run = flow.run("go", { signal: controller.signal })
    await stage.begun("c")
    controller.abort(new Error("enough"))
    await expect(run).rejects.toThrow("enough")
    await using other = diamond(new Stage())
    await other.loadState(await flow.saveState())
    expect(texts((await other.run()).messages)).toEqual(["c1", "d1"])
  })

  it("keeps the rounds of an any join", async () => {
    const make = (stage: Stage): GraphFlow => {
      const [a, b, c, d] = stage.agents("a", "b", "c", "d") as [never, never, never, never]
      const graph = new DiGraphBuilder().addNode(d, { activation: "any" })
      return new GraphFlow({
        graph: graph.addEdge(a, b).addEdge(a, c).addEdge(b, d).addEdge(c, d),
        terminationCondition: new SourceMatchTermination(["d"]),
      })
    }
    const stage = new Stage()
    await using flow = make(stage)
    stage.hold("c")
    expect(texts((await flow.run("go")).messages)).toEqual(["go", "a1", "b1", "d1"])
    await using other = make(new Stage())
    await other.loadState(await flow.saveState())
    // c comes too late for the join, and d is not asked again.
    expect(texts((await other.run()).messages)).toEqual(["c1"])
  })

  it.each<[string, object, RegExp]>([
    ["of another team", { next: 1 }, /no state of a graph/],
    [
      "of a graph with other nodes",
      { due: [{ node: "z", turn: 1, past: [] }] },
      /state is of another graph: z is to speak/,
    ],
    [
      "of a graph with other edges",
      { arrived: [{ group: "d/d", source: "a", past: [] }] },
      /state is of another graph: this one has no edge from a in group d\/d/,
    ],
  ])("is refused when it is %s", async (_, change, problem) => {
    await using flow = diamond(new Stage())
    const state = await flow.saveState()
    const policy = { ...(state["policy"] as object), ...change }
    await expectFailure(flow.loadState({ ...state, policy }), "STATE_INVALID", problem)
    expect(await flow.saveState()).toEqual(state)
  })
})

describe("a condition over a GraphFlow", () => {
  it("sees each message exactly once, also of those who speak at once", async () => {
    const seen: string[][] = []
    const terminationCondition = new FunctionalTermination((messages) => {
      seen.push(texts(messages))
      return false
    })
    await using flow = diamond(new Stage(), { terminationCondition })
    await flow.run("go")
    expect(seen).toEqual([["go"], ["a1"], ["b1"], ["c1"], ["d1"]])
  })

  it("that counts messages counts those of parallel turns", async () => {
    const stage = new Stage()
    await using flow = diamond(stage, { terminationCondition: new MaxMessageTermination(3) })
    expect(await flow.run("go")).toMatchObject({ stopKind: "condition" })
    expect(await heardBy(flow)).toEqual(["go", "a1", "b1"])
    expect((await flow.run()).stopKind).toBe("completed")
    expect((await heardBy(flow)).slice(3)).toEqual([expect.stringMatching(/^c/), "d1"])
  })
})

describe("a GraphFlow in a team", () => {
  it("goes on in the middle when the turn it was interrupted in is taken again", async () => {
    const stage = new Stage()
    const controller = new AbortController()
    const inner = diamond(stage, { name: "inner" })
    const last: ScriptedAgent = stage.agent("last")
    await using outer = new GraphFlow({ graph: new DiGraphBuilder().addEdge(inner, last) })
    stage.hold("c")
    const run = outer.run("go", { signal: controller.signal })
    await stage.begun("c")
    controller.abort(new Error("enough"))
    await expect(run).rejects.toThrow("enough")
    stage.letGo("c")
    expect(texts((await outer.run()).messages)).toEqual(["c1", "d1", "last1"])
    expect(await heardBy(inner)).toEqual(["go", "a1", "b1", "c1", "d1"])
  })
})
