import { beforeEach, describe, expect, it } from "vitest"
import { ApprovalGate } from "../../governance/approval/index.ts"
import { Clerk, type Office, approve, lines, moveTo } from "../clerk.test-kit.ts"
import { TextMentionTermination } from "../conditions/index.ts"
import { DiGraphBuilder, GraphFlow, type GraphFlowOptions } from "./graph/index.ts"
import { Stage } from "./graph/stage.test-kit.ts"

let ledger: string[] = []
let stage = new Stage()

beforeEach(() => {
  ledger = []
  stage = new Stage()
})

/** A fan: clerks who ask, and helpers who do not, at the same time; then an end that waits for all of them. */
function office(
  names: readonly string[],
  helpers: readonly string[],
  options: Partial<GraphFlowOptions> = {},
): Office<GraphFlow> & { readonly clerks: readonly Clerk[] } {
  const gate = new ApprovalGate({ suspend: true })
  const begin = stage.agent("begin")
  const end = stage.agent("end")
  const graph = new DiGraphBuilder()
  const clerks = names.map((name) => new Clerk(name, gate, (line) => ledger.push(line)))
  for (const one of [...clerks, ...helpers.map((name) => stage.agent(name))])
    graph.addEdge(begin, one).addEdge(one, end)
  return { gate, clerks, runner: new GraphFlow({ graph, ...options }) }
}

describe("a graph in which somebody waits for an approval", () => {
  it("lets those who speak at the same time come to their end, and asks nobody else", async () => {
    const first = office(["clerk"], ["helper"])
    await using team = first.runner
    stage.hold("helper")
    const running = team.run("tidy up")
    await stage.begun("helper")
    while (first.gate.pending().length === 0) await stage.begun("helper")
    stage.cue("helper")
    const begun = await running
    expect(begun.stopKind).toBe("suspended")
    expect(lines(begun)).toEqual([
      "user: tidy up",
      "begin: begin1",
      "clerk: clerk has a plan",
      "helper: helper1",
    ])

    const second = office(["clerk"], ["helper"])
    await using other = second.runner
    await moveTo(first, second)
    approve(second.gate, begun)
    const ended = await other.run()
    expect(lines(ended)).toEqual(["clerk: clerk did it", "end: end1"])
    expect(ended.stopKind).toBe("completed")
    // What was said meanwhile is no news of a turn that began before it.
    expect(second.clerks.map(({ asked }) => asked)).toEqual([["again tidy up+begin1"]])
    expect(stage.record).toEqual(["begin>", "begin<", "helper>", "helper<", "end>", "end<"])
    expect(ledger).toEqual(["clerk thinks of tidy up+begin1", "clerk acts"])
  })

  it("waits for several at once, and goes on with each that is answered", async () => {
    const { gate, runner } = office(["ann", "bob"], [])
    await using team = runner
    const begun = await team.run("tidy up")
    expect(begun.pending).toHaveLength(2)
    expect(begun.stopReason).toMatch(/^ann waits for approval \S+\. bob waits for approval \S+\.$/u)
    const [first = "", second = ""] = begun.pending ?? []
    gate.answer(first, { decision: "approve" })
    const half = await team.run()
    expect(half).toMatchObject({ stopKind: "suspended", pending: [second] })
    expect(lines(half)).toEqual(["ann: ann did it"])
    gate.answer(second, { decision: "approve" })
    const ended = await team.run()
    expect(lines(ended)).toEqual(["bob: bob did it", "end: end1"])
    expect(ledger.toSorted()).toEqual([
      "ann acts",
      "ann thinks of tidy up+begin1",
      "bob acts",
      "bob thinks of tidy up+begin1",
    ])
  })

  it("says who still waits when a condition ends the run, and the next run goes on with them", async () => {
    const { gate, runner } = office(["clerk"], ["helper"], {
      terminationCondition: new TextMentionTermination("helper1"),
    })
    await using team = runner
    stage.hold("helper")
    const running = team.run("tidy up")
    await stage.begun("helper")
    while (gate.pending().length === 0) await stage.begun("helper")
    stage.letGo("helper")
    const begun = await running
    expect(begun).toMatchObject({ stopKind: "condition", pending: [gate.pending()[0]?.id] })
    approve(gate, begun)
    expect(lines(await team.run("go on"))).toEqual(["user: go on", "clerk: clerk did it", "end: end1"])
  })
})
