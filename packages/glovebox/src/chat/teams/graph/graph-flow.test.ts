import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { MessageFilterAgent } from "../../agents/message-filter-agent.ts"
import { TextMessage, toText } from "../../messages/index.ts"
import { ScriptedAgent } from "../../scripted-agent.test-kit.ts"
import { RoundRobinGroupChat } from "../round-robin-group-chat.ts"
import { DiGraphBuilder, GraphFlow } from "./index.ts"
import { Stage, texts } from "./stage.test-kit.ts"

describe("GraphFlow", () => {
  it("goes from node to node, and everybody hears everything", async () => {
    const [a, b, c] = new Stage().agents("a", "b", "c") as [ScriptedAgent, ScriptedAgent, ScriptedAgent]
    await using flow = new GraphFlow({ graph: new DiGraphBuilder().addEdge(a, b).addEdge(b, c) })
    const { messages, stopKind, stopReason } = await flow.run("go")
    expect(texts(messages)).toEqual(["go", "a1", "b1", "c1"])
    expect({ stopKind, stopReason }).toEqual({
      stopKind: "completed",
      stopReason: "The graph is at its end.",
    })
    expect(c.heard).toEqual([["go", "a1", "b1"]])
  })

  it("lets a node begin as soon as its own edges allow, while others still speak", async () => {
    const stage = new Stage()
    const [a, quick, slow, after] = stage.agents("a", "quick", "slow", "after") as [
      never,
      never,
      never,
      never,
    ]
    stage.hold("slow")
    const graph = new DiGraphBuilder().addEdge(a, quick).addEdge(a, slow).addEdge(quick, after)
    await using flow = new GraphFlow({ graph })
    const run = flow.run("go")
    await stage.begun("after")
    expect(stage.record).toEqual(["a>", "a<", "quick>", "slow>", "quick<", "after>", "after<"])
    stage.cue("slow")
    expect(texts((await run).messages)).toEqual(["go", "a1", "quick1", "after1", "slow1"])
  })

  it("joins all: a node waits for the last of them", async () => {
    const stage = new Stage()
    const [a, b, c, d] = stage.agents("a", "b", "c", "d") as [never, never, never, never]
    stage.hold("b", "c")
    const graph = new DiGraphBuilder().addEdge(a, b).addEdge(a, c).addEdge(b, d).addEdge(c, d)
    await using flow = new GraphFlow({ graph })
    const run = flow.run("go")
    await stage.begun("b")
    stage.cue("c")
    await stage.begun("b")
    expect(stage.record).toEqual(["a>", "a<", "b>", "c>", "c<"])
    stage.cue("b")
    expect(texts((await run).messages)).toEqual(["go", "a1", "c1", "b1", "d1"])
  })

  it.each(["node", "edges"])(
    "joins any, said of the %s: a node begins with the first, once",
    async (where) => {
      const stage = new Stage()
      const [a, b, c, d] = stage.agents("a", "b", "c", "d") as [never, never, never, never]
      stage.hold("b")
      const edge = where === "edges" ? ({ activationCondition: "any" } as const) : {}
      const graph = new DiGraphBuilder().addEdge(a, b).addEdge(a, c).addEdge(b, d, edge).addEdge(c, d, edge)
      if (where === "node") graph.addNode(d, { activation: "any" })
      await using flow = new GraphFlow({ graph })
      const run = flow.run("go")
      await stage.begun("d")
      expect(stage.record).not.toContain("b<")
      stage.cue("b")
      expect(texts((await run).messages)).toEqual(["go", "a1", "c1", "d1", "b1"])
    },
  )

  it("starts a node once for each group, and again after its turn when it is speaking", async () => {
    const stage = new Stage()
    const [a, b, c, d] = stage.agents("a", "b", "c", "d") as [never, never, never, never]
    stage.hold("d")
    const graph = new DiGraphBuilder()
      .addEdge(a, b)
      .addEdge(a, c)
      .addEdge(b, d, { activationGroup: "of b" })
      .addEdge(c, d, { activationGroup: "of c" })
    await using flow = new GraphFlow({ graph })
    const run = flow.run("go")
    await stage.begun("d")
    await stage.begun("c")
    expect(stage.record.slice(-3)).toEqual(["b<", "c<", "d>"])
    stage.cue("d")
    await stage.begun("d", 2)
    stage.cue("d")
    expect(texts((await run).messages)).toEqual(["go", "a1", "b1", "c1", "d1", "d2"])
  })

  it("begins with several nodes, and runs parts that do not touch", async () => {
    const [a, b, c, d, e] = new Stage().agents("a", "b", "c", "d", "e") as [never, never, never, never, never]
    const graph = new DiGraphBuilder().addEdge(a, c).addEdge(b, c).addEdge(d, e)
    await using flow = new GraphFlow({ graph })
    const { messages } = await flow.run("go")
    expect(texts(messages).toSorted()).toEqual(["a1", "b1", "c1", "d1", "e1", "go"])
  })

  it("takes the edges whose condition holds of what was said last", async () => {
    const seen: string[] = []
    const stage = new Stage()
    const a = stage.agent("a", () => "half OK, half BAD")
    const [b, c, d] = stage.agents("b", "c", "d") as [never, never, never]
    const graph = new DiGraphBuilder().addConditionalEdges(a, { OK: b, FINE: c }).addEdge(a, d, {
      condition: (message) => {
        seen.push(toText(message))
        return message.source === "a"
      },
    })
    await using flow = new GraphFlow({ graph })
    const { messages } = await flow.run("FINE")
    expect(texts(messages).slice(2).toSorted()).toEqual(["b1", "d1"])
    expect(seen).toEqual(["half OK, half BAD"])
  })

  it("says where it ended when no edge was for what was said, and who waited in vain", async () => {
    const stage = new Stage()
    const [a, b, c] = stage.agents("a", "b", "c") as [never, never, never]
    const router = stage.agent("router", () => "neither")
    const graph = new DiGraphBuilder().addEdge(a, c).addEdge(router, b, { condition: "LEFT" }).addEdge(b, c)
    await using flow = new GraphFlow({ graph })
    expect(await flow.run("go")).toMatchObject({
      stopKind: "completed",
      stopReason: "The graph is at its end: no edge of router was for what it said; c still waited for b.",
    })
  })

  it("goes round a loop until its exit", async () => {
    const stage = new Stage()
    const writer = stage.agent("writer", (turn) => `draft ${turn}`)
    const critic = stage.agent("critic", (turn) => (turn < 3 ? "REVISE" : "APPROVED"))
    const editor = stage.agent("editor")
    const graph = new DiGraphBuilder()
      .addEdge(writer, critic)
      .addConditionalEdges(critic, { REVISE: writer, APPROVED: editor })
      .setEntryPoint(writer)
    await using flow = new GraphFlow({ graph, maxTurns: 20 })
    expect(texts((await flow.run("go")).messages)).toEqual([
      "go",
      "draft 1",
      "REVISE",
      "draft 2",
      "REVISE",
      "draft 3",
      "APPROVED",
      "editor1",
    ])
  })

  it("comes back into an any join that a first edge had started", async () => {
    const stage = new Stage()
    const [start, writer] = stage.agents("start", "writer") as [never, never]
    const critic = stage.agent("critic", (turn) => (turn < 3 ? "REVISE" : "APPROVED"))
    const graph = new DiGraphBuilder()
      .addNode(writer, { activation: "any" })
      .addEdge(start, writer)
      .addEdge(writer, critic)
      .addEdge(critic, writer, { condition: "REVISE" })
    await using flow = new GraphFlow({ graph, maxTurns: 20 })
    const { messages, stopReason } = await flow.run("go")
    expect(texts(messages).slice(1)).toEqual([
      "start1",
      "writer1",
      "REVISE",
      "writer2",
      "REVISE",
      "writer3",
      "APPROVED",
    ])
    expect(stopReason).toBe("The graph is at its end: no edge of critic was for what it said.")
  })

  it("starts an any join once in each round, whoever is late", async () => {
    const stage = new Stage()
    const [a, b, c] = stage.agents("a", "b", "c") as [never, never, never]
    const d = stage.agent("d", (turn) => (turn < 2 ? "MORE" : "enough"))
    stage.hold("c")
    const graph = new DiGraphBuilder()
      .addNode(d, { activation: "any" })
      .addEdge(a, b)
      .addEdge(a, c)
      .addEdge(b, d)
      .addEdge(c, d)
      .addEdge(d, a, { condition: "MORE" })
      .setEntryPoint(a)
    await using flow = new GraphFlow({ graph, maxTurns: 20 })
    const run = flow.run("go")
    await stage.begun("d", 2)
    stage.cue("c")
    await stage.begun("c", 2)
    stage.cue("c")
    expect(texts((await run).messages).slice(1)).toEqual([
      "a1",
      "b1",
      "MORE",
      "a2",
      "b2",
      "enough",
      "c1",
      "c2",
    ])
  })

  it("follows a node that leads to itself", async () => {
    const stage = new Stage()
    const start = stage.agent("start")
    const worker = stage.agent("worker", (turn) => (turn < 3 ? "AGAIN" : "DONE"))
    const end = stage.agent("end")
    const graph = new DiGraphBuilder()
      .addEdge(start, worker)
      .addEdge(worker, worker, { condition: "AGAIN", activationGroup: "itself" })
      .addEdge(worker, end, { condition: "DONE" })
    await using flow = new GraphFlow({ graph, maxTurns: 20 })
    expect(texts((await flow.run("go")).messages).slice(1)).toEqual([
      "start1",
      "AGAIN",
      "AGAIN",
      "DONE",
      "end1",
    ])
  })

  it("follows two loops through one node", async () => {
    const stage = new Stage()
    const hub = stage.agent("hub", (turn) => ["to LEFT", "to RIGHT", "to LEFT", "to END"][turn - 1] ?? "")
    const [left, right, end] = stage.agents("left", "right", "end") as [never, never, never]
    const graph = new DiGraphBuilder()
      .addConditionalEdges(hub, { LEFT: left, RIGHT: right, END: end })
      .addEdge(left, hub, { activationGroup: "left loop" })
      .addEdge(right, hub, { activationGroup: "right loop" })
      .setEntryPoint(hub)
    await using flow = new GraphFlow({ graph, maxTurns: 20 })
    expect(texts((await flow.run("go")).messages).slice(1)).toEqual([
      "to LEFT",
      "left1",
      "to RIGHT",
      "right1",
      "to LEFT",
      "left2",
      "to END",
      "end1",
    ])
  })

  it("counts each turn, also of those who speak at once, and goes on with the others", async () => {
    const [a, b, c, d] = new Stage().agents("a", "b", "c", "d") as [never, never, never, never]
    const graph = new DiGraphBuilder().addEdge(a, b).addEdge(a, c).addEdge(a, d)
    await using flow = new GraphFlow({ graph, maxTurns: 3 })
    expect(texts((await flow.run("go")).messages)).toEqual(["go", "a1", "b1", "c1"])
    expect(texts((await flow.run()).messages)).toEqual(["d1"])
  })

  it("knows its agents by the participant's name, whatever name is in their messages", async () => {
    const inner = new ScriptedAgent("inner", () => "OK")
    const wrapper = new MessageFilterAgent({ name: "outer", wrappedAgent: inner, filter: { perSource: [] } })
    const stranger = new ScriptedAgent("b", () => TextMessage({ content: "OK", source: "somebody" }))
    const c = new ScriptedAgent("c")
    const graph = new DiGraphBuilder()
      .addEdge(wrapper, stranger, { condition: "OK" })
      .addEdge(stranger, c, { condition: "OK" })
    await using flow = new GraphFlow({ graph })
    expect(texts((await flow.run("go")).messages)).toEqual(["go", "OK", "OK", "c1"])
    expect(inner.heard).toEqual([[]])
  })

  it("takes a team as a node, and looks at its last message", async () => {
    const [a, b, c] = new Stage().agents("a", "b", "c") as [never, never, never]
    const inner = new RoundRobinGroupChat({ name: "inner", participants: [a, b], maxTurns: 2 })
    const graph = new DiGraphBuilder().addConditionalEdges(inner, { a1: "inner", b1: c })
    await using flow = new GraphFlow({ graph: graph.setEntryPoint(inner), maxTurns: 5 })
    expect(texts((await flow.run("go")).messages)).toEqual(["go", "a1", "b1", "c1"])
  })

  it.each([
    [
      () => {
        throw new TypeError("no such field")
      },
      /^The condition of the edge from a to b failed: no such field/,
    ],
    [async () => true, /^The condition of the edge from a to b gave .*Promise.*, not true or false/],
  ])("fails when a condition cannot say yes or no, and works again", async (condition, problem) => {
    let isBroken = true
    const [a, b] = new Stage().agents("a", "b") as [never, never]
    const graph = new DiGraphBuilder().addEdge(a, b, {
      condition: () => (isBroken ? (condition() as never) : true),
    })
    await using flow = new GraphFlow({ graph })
    await expectFailure(flow.run("go"), "GRAPH_INVALID", problem)
    isBroken = false
    expect(texts((await flow.run()).messages)).toEqual(["a2", "b1"])
  })
})
