import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { FunctionalTermination } from "../../conditions/index.ts"
import type { ScriptedAgent } from "../../scripted-agent.test-kit.ts"
import { type Activation, DiGraphBuilder, GraphFlow } from "./index.ts"
import { Stage, heardBy } from "./stage.test-kit.ts"

interface Dag {
  readonly size: number
  /** From a lower to a higher number. */
  readonly edges: readonly (readonly [number, number])[]
  readonly activations: readonly Activation[]
}

const dags: fc.Arbitrary<Dag> = fc.integer({ min: 1, max: 7 }).chain((size) => {
  const node = fc.nat({ max: size - 1 })
  const edge = fc
    .tuple(node, node)
    .filter(([from, to]) => from !== to)
    .map(([from, to]) => (from < to ? ([from, to] as const) : ([to, from] as const)))
  return fc.record({
    size: fc.constant(size),
    edges: size === 1 ? fc.constant([]) : fc.array(edge, { maxLength: 12 }),
    activations: fc.array(fc.constantFrom<Activation>("all", "any"), { minLength: size, maxLength: size }),
  })
})

const nameOf = (at: number): string => `n${at}`

function flowOf(
  { size, edges, activations }: Dag,
  stage: Stage,
  terminationCondition?: FunctionalTermination,
): GraphFlow {
  const agents: ScriptedAgent[] = Array.from({ length: size }, (_, at) =>
    stage.agent(nameOf(at), () => nameOf(at)),
  )
  const graph = new DiGraphBuilder()
  for (const [at, agent] of agents.entries()) graph.addNode(agent, { activation: activations[at] })
  for (const [from, to] of edges) graph.addEdge(nameOf(from), nameOf(to))
  return new GraphFlow({ graph, terminationCondition })
}

/** Everybody spoke once; after all who lead to them, or after the first of them. */
function expectOrder({ size, edges, activations }: Dag, heard: readonly string[]): void {
  const names = Array.from({ length: size }, (_, at) => nameOf(at))
  expect(heard.toSorted()).toEqual(names.toSorted())
  for (const [at, name] of names.entries()) {
    const before = edges.filter(([, to]) => to === at).map(([from]) => heard.indexOf(nameOf(from)))
    if (before.length === 0) continue
    const wait = activations[at] === "all" ? Math.max(...before) : Math.min(...before)
    expect(heard.indexOf(name)).toBeGreaterThan(wait)
  }
}

describe("any graph without loops", () => {
  it("lets everybody speak exactly once, in an order that the joins allow", async () => {
    await fc.assert(
      fc.asyncProperty(dags, fc.scheduler(), async (dag, scheduler) => {
        const stage = new Stage()
        stage.onBegin = async (name) => scheduler.schedule(Promise.resolve(), name)
        await using flow = flowOf(dag, stage)
        const { stopReason } = await scheduler.waitFor(flow.run("go"))
        expect(stopReason).toBe("The graph is at its end.")
        expectOrder(dag, (await heardBy(flow)).slice(1))
      }),
      { numRuns: 25 },
    )
  })

  it("is gone through as if nothing had been, wherever and however it was ended and gone on with", async () => {
    const ends = fc.array(
      fc.record({
        how: fc.constantFrom("abort", "error", "condition"),
        after: fc.nat({ max: 6 }),
        moves: fc.boolean(),
      }),
      { minLength: 1, maxLength: 3 },
    )
    await fc.assert(
      fc.asyncProperty(dags, ends, fc.scheduler(), async (dag, interruptions, scheduler) => {
        let stage = new Stage()
        let left = 0
        const terminationCondition = new FunctionalTermination(() => {
          left -= 1
          return left === 0
        })
        let flow = flowOf(dag, stage, terminationCondition)
        let task: string | undefined = "go"
        for (const { how, after, moves } of interruptions) {
          const controller = new AbortController()
          let begun = 0
          stage.onBegin = async (name, signal) => {
            begun += 1
            const isEnd = begun === after + 1
            await scheduler.schedule(Promise.resolve(), name)
            signal.throwIfAborted()
            if (isEnd && how === "abort") controller.abort(new Error("enough"))
            if (isEnd && how === "error") throw new Error("broken")
          }
          left = how === "condition" ? after + 1 : 0
          await scheduler.waitFor(flow.run(task, { signal: controller.signal }).catch(() => {}))
          if ((await heardBy(flow)).length === dag.size + 1) break
          task = undefined
          if (!moves) continue
          const state = await flow.saveState()
          stage = new Stage()
          flow = flowOf(dag, stage, terminationCondition)
          await flow.loadState(state)
        }
        left = 0
        stage.onBegin = () => {}
        const isLeft = (await heardBy(flow)).length < dag.size + 1
        const { stopKind } = isLeft ? await scheduler.waitFor(flow.run()) : { stopKind: "completed" }
        expect(stopKind).toBe("completed")
        expectOrder(dag, (await heardBy(flow)).slice(1))
      }),
      { numRuns: 25 },
    )
  })
})

describe("a loop", () => {
  it("is gone through as if nothing had been, whichever of its turns is interrupted", async () => {
    const expected = ["go", "draft", "REVISE", "draft", "REVISE", "draft", "APPROVED", "done"]
    for (let at = 1; at <= 7; at += 1) {
      const stage = new Stage()
      const [writer, critic, editor] = [
        stage.agent("writer", () => "draft"),
        stage.agent("critic", (turn) => (turn < 3 ? "REVISE" : "APPROVED")),
        stage.agent("editor", () => "done"),
      ]
      const graph = new DiGraphBuilder()
        .addEdge(writer, critic)
        .addConditionalEdges(critic, { REVISE: writer, APPROVED: editor })
        .setEntryPoint(writer)
      await using flow = new GraphFlow({ graph, maxTurns: 20 })
      await using other = new GraphFlow({ graph, maxTurns: 20 })
      const controller = new AbortController()
      let begun = 0
      stage.onBegin = () => {
        begun += 1
        if (begun === at) controller.abort(new Error("enough"))
      }
      await expect(flow.run("go", { signal: controller.signal })).rejects.toThrow("enough")
      await other.loadState(await flow.saveState())
      expect(await other.run()).toMatchObject({ stopKind: "completed" })
      expect(await heardBy(other)).toEqual(expected)
    }
  })
})
