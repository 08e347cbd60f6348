import { describe, expect, it } from "vitest"
import { ScriptedAgent } from "../../scripted-agent.test-kit.ts"
import { MaxMessageTermination } from "../../conditions/index.ts"
import { DiGraph, DiGraphBuilder, GraphFlow } from "./index.ts"

const [a, b, c] = ["a", "b", "c"].map((name) => new ScriptedAgent(name)) as [
  ScriptedAgent,
  ScriptedAgent,
  ScriptedAgent,
]

function failureOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return `${code}: ${message}`
  }
  return "nothing failed"
}

describe("DiGraphBuilder", () => {
  it("takes agents and names, and adds an agent that is new", () => {
    const builder = new DiGraphBuilder().addNode(c).addEdge(a, b).addEdge("b", "c").addNode(c).addNode(a)
    expect(builder.participants).toEqual([c, a, b])
    expect(builder.getParticipants()).toEqual(builder.participants)
    const graph = builder.build()
    expect(graph).toMatchObject({ startNodes: ["a"], leafNodes: ["c"], cycle: undefined })
    expect(graph.nodes.get("a")?.edges).toEqual([
      { target: "b", condition: undefined, activationGroup: "b", activationCondition: "all" },
    ])
  })

  it("gives edges the activation of their target, in whatever order they are drawn", () => {
    const graph = new DiGraphBuilder().addEdge(a, b).addNode(b, { activation: "any" }).build()
    expect(graph.nodes.get("a")?.edges).toMatchObject([{ activationCondition: "any" }])
    expect(graph.groups).toEqual([{ target: "b", name: "b", activation: "any", sources: ["a"] }])
  })

  it.each<[string, () => unknown, RegExp]>([
    [
      "a name that is not known",
      () => new DiGraphBuilder().addNode(a).addEdge("a", "aa"),
      /"aa" yet\. Did you mean a\?/,
    ],
    [
      "what is no agent",
      () => new DiGraphBuilder().addNode({} as never),
      /^GRAPH_INVALID: .*no agent and no team/,
    ],
    [
      "two of one name",
      () => new DiGraphBuilder().addNode(a).addNode(new ScriptedAgent("a")),
      /two nodes called a/,
    ],
    [
      "two activations",
      () => new DiGraphBuilder().addNode(a, { activation: "any" }).addNode(a, { activation: "all" }),
      /a was added with activation "any" before/,
    ],
    [
      "an option that is not there",
      () => new DiGraphBuilder().addEdge(a, b, { activation_group: "x" } as never),
      /^OPTION_INVALID: .*did you mean activationGroup\?/,
    ],
    [
      "an empty condition",
      () => new DiGraphBuilder().addEdge(a, b, { condition: "" }),
      /^OPTION_INVALID: .*condition/,
    ],
  ])("refuses %s", (_, run, problem) => {
    expect(failureOf(run)).toMatch(problem)
  })
})

describe("DiGraph", () => {
  it.each<[string, ConstructorParameters<typeof DiGraph>[0], RegExp]>([
    ["no nodes", { nodes: {} }, /: it has no nodes\.$/],
    [
      "an edge to nobody",
      { nodes: { writer: { edges: [{ target: "writre" }] } } },
      /no node\. Did you mean writer\?/,
    ],
    [
      "a beginning that is no node",
      { nodes: { a: {} }, defaultStartNode: "zzzzzz" },
      /begin with zzzzzz.*nodes are a/,
    ],
    [
      "no beginning",
      { nodes: { a: { edges: [{ target: "b", condition: "x" }] }, b: { edges: [{ target: "a" }] } } },
      /so it has no beginning/,
    ],
    [
      "a node with a condition on some edges only",
      { nodes: { a: { edges: [{ target: "b" }, { target: "c", condition: "x" }] }, b: {}, c: {} } },
      /a has edges with a condition and edges without/,
    ],
    [
      "a group that contradicts itself",
      {
        nodes: {
          a: { edges: [{ target: "c", activationCondition: "any" }] },
          b: { edges: [{ target: "c" }] },
          c: {},
        },
      },
      /edges of group c into c wait for all and some for any/,
    ],
    [
      "a loop that nothing ends",
      {
        nodes: {
          a: { edges: [{ target: "b" }] },
          b: { edges: [{ target: "c" }] },
          c: { edges: [{ target: "b" }] },
        },
      },
      /nothing ends the loop b -> c -> b\./,
    ],
    [
      "a node that waits for one who comes after it",
      {
        nodes: {
          a: { edges: [{ target: "b" }] },
          b: { edges: [{ target: "c" }] },
          c: { edges: [{ target: "b", condition: "x" }] },
        },
      },
      /b waits for c, who cannot speak before it\. .*activationGroup/,
    ],
    ["a wrong field", { nodes: { a: { edge: [] } } } as never, /edge/],
  ])("refuses %s", (_, options, problem) => {
    const failure = failureOf(() => new DiGraph(options))
    expect(failure).toMatch(/^GRAPH_INVALID: /)
    expect(failure).toMatch(problem)
  })

  it("tells everything that is wrong at once", () => {
    const nodes = {
      a: { edges: [{ target: "a" }] },
      b: { edges: [{ target: "c" }, { target: "a", condition: "x" }] },
      c: {},
    }
    expect(failureOf(() => new DiGraph({ nodes }))).toMatch(/b has edges.*; nothing ends the loop a -> a/)
  })

  it("may have parts that its entry point does not reach, and no leaf", () => {
    const nodes = {
      a: { edges: [{ target: "b" }] },
      b: { edges: [{ target: "a", condition: "x" }] },
      lonely: {},
    }
    const graph = new DiGraph({ nodes, defaultStartNode: "a" })
    expect(graph).toMatchObject({ leafNodes: ["lonely"], cycle: ["a", "b", "a"] })
  })

  it("checks a long chain", () => {
    const nodes = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, at) => [
        `n${at}`,
        { edges: at === 0 ? [] : [{ target: `n${at - 1}` }] },
      ]),
    )
    expect(new DiGraph({ nodes }).startNodes).toEqual(["n1999"])
  })
})

describe("a GraphFlow", () => {
  const line = new DiGraphBuilder().addEdge(a, b).build()
  const loop = new DiGraphBuilder().addEdge(a, b).addEdge(b, a, { condition: "x" }).setEntryPoint(a)

  it.each<[string, () => unknown, RegExp]>([
    ["without participants", () => new GraphFlow({ graph: line }), /^TEAM_INVALID: .*needs participants/],
    [
      "of something else",
      () => new GraphFlow({ graph: {} as never }),
      /^OPTION_INVALID: .*graph: is no DiGraph/,
    ],
    [
      "whose nodes are not its participants",
      () => new GraphFlow({ graph: line, participants: [a, c] }),
      /^GRAPH_INVALID: .*node b has no participant; participant c has no node/,
    ],
    [
      "with a loop and no bound",
      () => new GraphFlow({ graph: loop }),
      /^GRAPH_INVALID: The graph has a loop, a -> b -> a, .*Pass maxTurns/,
    ],
  ])("cannot be made %s", (_, run, problem) => {
    expect(failureOf(run)).toMatch(problem)
  })

  it("may have a loop without a leaf when something bounds it", async () => {
    const graph = loop.build()
    const participants = loop.participants
    await using _counted = new GraphFlow({ graph, participants, maxTurns: 5 })
    const terminationCondition = new MaxMessageTermination(5)
    await using _stopped = new GraphFlow({ graph, participants, terminationCondition })
    expect(_counted.name).toBe("GraphFlow")
  })
})
