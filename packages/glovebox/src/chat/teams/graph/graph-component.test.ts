import { describe, expect, it } from "vitest"
import {
  type Component,
  type ComponentModel,
  ComponentRegistry,
  defineComponent,
} from "../../../core/index.ts"
import { z } from "zod"
import { MaxMessageTermination } from "../../conditions/index.ts"
import { ScriptedAgent } from "../../scripted-agent.test-kit.ts"
import { DiGraphBuilder, GraphFlow } from "./index.ts"
import { texts } from "./stage.test-kit.ts"

class Named extends ScriptedAgent implements Component {
  static readonly definition = defineComponent({
    provider: "example.Named",
    type: "agent",
    config: z.object({ name: z.string() }),
    create: ({ name }) => new Named(name),
  })

  toComponent(): ComponentModel {
    return Named.definition.dump({ name: this.name })
  }
}

const registry = new ComponentRegistry([
  GraphFlow.definition,
  Named.definition,
  MaxMessageTermination.definition,
] as never)
const [a, b, c] = [new Named("a"), new Named("b"), new Named("c")]

function edge(target: string, condition: string | null = null): object {
  return { target, condition, activation_group: target, activation_condition: "all" }
}

describe("GraphFlow.toComponent", () => {
  it("writes the graph with AutoGen's names, and makes an equal team of it", async () => {
    const graph = new DiGraphBuilder()
      .addNode(c, { activation: "any" })
      .addEdge(a, b)
      .addEdge(b, a, { condition: "MORE" })
      .addEdge(b, c, { condition: "b1", activationGroup: "exit" })
      .setEntryPoint(a)
    await using flow = new GraphFlow({ graph, terminationCondition: new MaxMessageTermination(9) })
    const written = JSON.parse(JSON.stringify(flow.toComponent())) as ComponentModel
    expect(written).toMatchObject({
      provider: "glovebox.teams.GraphFlow",
      component_type: "team",
      config: {
        graph: {
          nodes: {
            a: { name: "a", activation: "all", edges: [edge("b")] },
            b: {
              name: "b",
              activation: "all",
              edges: [
                edge("a", "MORE"),
                { ...edge("c", "b1"), activation_group: "exit", activation_condition: "any" },
              ],
            },
            c: { name: "c", activation: "any", edges: [] },
          },
          default_start_node: "a",
        },
      },
    })
    await using made = registry.load(written, GraphFlow)
    expect(made.toComponent()).toEqual(written)
    expect(texts((await made.run("go")).messages)).toEqual(["go", "a1", "b1", "c1"])
  })

  it("reads what AutoGen wrote, its empty groups too", async () => {
    const participants = [a, b].map((agent) => agent.toComponent())
    const nodes = {
      a: {
        name: "a",
        edges: [{ target: "b", condition: null, activation_group: "", activation_condition: "all" }],
        activation: "all",
      },
      b: { name: "b", edges: [], activation: "all" },
    }
    const config = { participants, graph: { nodes, default_start_node: null, has_cycles: null } }
    await using flow = registry.load({ provider: "autogen_agentchat.teams.GraphFlow", config }, GraphFlow)
    expect(texts((await flow.run("go")).messages)).toEqual(["go", "a1", "b1"])
  })

  it("refuses a condition that is a function, and a graph that cannot be run", () => {
    const graph = new DiGraphBuilder().addEdge(a, b, { condition: () => true })
    expect(() => new GraphFlow({ graph }).toComponent()).toThrow(
      expect.objectContaining({
        code: "COMPONENT_INVALID",
        message: expect.stringMatching(/edge from a to b is a function/),
      }),
    )
    const load = (nodes: object) => (): unknown =>
      registry.load({
        provider: "glovebox.teams.GraphFlow",
        config: { participants: [a.toComponent()], graph: { nodes } },
      })
    for (const nodes of [{}, { a: { name: "b", edges: [] } }, { a: { edges: [{ target: "a" }] } }]) {
      expect(load(nodes)).toThrow(expect.objectContaining({ code: "GRAPH_INVALID" }))
    }
  })
})
