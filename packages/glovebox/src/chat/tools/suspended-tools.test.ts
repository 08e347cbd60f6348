import { beforeEach, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { ApprovalGate } from "../../governance/approval/index.ts"
import type { ReplayResponse } from "../../models/replay/index.ts"
import type { RunToolOptions, ToolResult } from "../../tools/index.ts"
import { AssistantAgent } from "../agents/assistant/index.ts"
import { Clerk, type Office, approve, moveTo } from "../clerk.test-kit.ts"
import { ScriptedAgent } from "../scripted-agent.test-kit.ts"
import { answerText, pendingOf } from "../task/index.ts"
import { RoundRobinGroupChat } from "../teams/index.ts"
import { AgentTool } from "./agent-tool.ts"
import { model, textOf } from "./runner-tools.test-kit.ts"
import type { TaskRunnerTool } from "./task-runner-tool.ts"
import { TeamTool } from "./team-tool.ts"

let ledger: string[] = []

beforeEach(() => {
  ledger = []
})

const newClerk = (gate: ApprovalGate): Clerk => new Clerk("clerk", gate, (line) => ledger.push(line))

const kinds: readonly { readonly kind: string; readonly make: (gate: ApprovalGate) => TaskRunnerTool }[] = [
  { kind: "an AgentTool", make: (gate) => new AgentTool({ agent: newClerk(gate) }) },
  { kind: "one that is kept", make: (gate) => new AgentTool({ agent: newClerk(gate), state: "kept" }) },
  {
    kind: "one with an agent for each call",
    make: (gate) => new AgentTool({ agent: () => newClerk(gate), name: "clerk", description: "Tidies." }),
  },
  {
    kind: "a TeamTool",
    make: (gate) => {
      const participants = [new ScriptedAgent("opener", () => "go"), newClerk(gate)]
      const team = new RoundRobinGroupChat({ participants, maxTurns: 2 })
      return new TeamTool({ team, name: "team", description: "Tidies." })
    },
  },
]

async function pendingIn(call: Promise<ToolResult>): Promise<readonly string[]> {
  return pendingOf(await expectFailure(call, "APPROVAL_PENDING")) ?? []
}

describe.each(kinds)("a call of $kind that waits for an approval", ({ kind, make }) => {
  const answer = kind === "a TeamTool" ? "opener: go\n\nclerk: clerk did it" : "clerk: clerk did it"
  const heard = kind === "a TeamTool" ? "tidy up+go" : "tidy up"

  it("goes on when the same call is made again, also in another process", async () => {
    const gate = new ApprovalGate({ suspend: true })
    const before = make(gate)
    const call: RunToolOptions = { callId: "1" }
    const [id = ""] = await pendingIn(before.run({ task: "tidy up" }, call))
    expect(await pendingIn(before.run({ task: "tidy up" }, call))).toEqual([id])

    const other = new ApprovalGate({ suspend: true })
    const after = make(other)
    await after.loadState(JSON.parse(JSON.stringify(await before.saveState())))
    other.loadState(await gate.saveState())
    other.answer(id, { decision: "approve" })
    expect(await textOf(after.run({ task: "tidy up" }, call))).toBe(answer)
    expect(ledger).toEqual([`clerk thinks of ${heard}`, "clerk acts"])
  })

  it("is over with that: the same call once more is another one", async () => {
    const gate = new ApprovalGate({ suspend: true })
    const one = make(gate)
    const [id = ""] = await pendingIn(one.run({ task: "tidy up" }))
    gate.answer(id, { decision: "approve" })
    await one.run({ task: "tidy up" })
    expect(await pendingIn(one.run({ task: "tidy up" }))).not.toEqual([id])
  })
})

describe("several calls of one tool", () => {
  it("wait beside each other, and each goes on with its own", async () => {
    const gate = new ApprovalGate({ suspend: true })
    const tool = new AgentTool({ agent: newClerk(gate) })
    const tasks = ["one", "two"]
    const ids = await Promise.all(tasks.map((task) => pendingIn(tool.run({ task }, { callId: task }))))
    gate.answer(ids[1]?.[0] ?? "", { decision: "approve" })
    expect(await textOf(tool.run({ task: "two" }, { callId: "two" }))).toBe("clerk: clerk did it")
    gate.answer(ids[0]?.[0] ?? "", { decision: "deny", reason: "no" })
    expect(await textOf(tool.run({ task: "one" }, { callId: "one" }))).toBe("clerk: clerk may not: no")
    expect(ledger).toEqual(["clerk thinks of one", "clerk thinks of two", "clerk acts"])
  })

  it("wait for the first of them where all are remembered", async () => {
    const gate = new ApprovalGate({ suspend: true })
    const tool = new AgentTool({ agent: newClerk(gate), state: "kept" })
    const first = await pendingIn(tool.run({ task: "one" }))
    expect(await pendingIn(tool.run({ task: "two" }))).toEqual(first)
    gate.answer(first[0] ?? "", { decision: "approve" })
    await tool.run({ task: "one" })
    expect(await pendingIn(tool.run({ task: "two" }))).not.toEqual(first)
    expect(ledger).toEqual(["clerk thinks of one", "clerk acts", "clerk thinks of two"])
  })

  it("are no state of a tool with another choice", async () => {
    const gate = new ApprovalGate({ suspend: true })
    const [fresh, kept] = (["fresh", "kept"] as const).map(
      (state) => new AgentTool({ agent: newClerk(gate), state }),
    )
    if (!fresh || !kept) throw new Error("there are two")
    await pendingIn(fresh.run({ task: "one" }))
    await expectFailure(kept.loadState((await fresh.saveState()) ?? null), "STATE_INVALID")
    await pendingIn(kept.run({ task: "one" }))
    await expectFailure(fresh.loadState((await kept.saveState()) ?? null), "STATE_INVALID")
    await expectFailure(fresh.loadState({ type: "TaskRunnerToolState" }), "STATE_INVALID")
  })
})

describe("an assistant whose tool waits for an approval", () => {
  it("goes on with the call in another process, and its model is not asked again", async () => {
    const answers: readonly ReplayResponse[] = [
      [{ id: "1", name: "clerk", arguments: '{"task":"tidy up"}' }],
      (messages) => `told: ${JSON.stringify(messages.at(-1)?.content)}`,
    ]
    const office = (script: readonly ReplayResponse[]): Office<AssistantAgent> => {
      const gate = new ApprovalGate({ suspend: true })
      const tools = [new AgentTool({ agent: newClerk(gate) })]
      return { gate, runner: new AssistantAgent({ name: "boss", modelClient: model(...script), tools }) }
    }
    const first = office(answers.slice(0, 1))
    const begun = await first.runner.run("Have it tidied up.")
    expect(begun).toMatchObject({ stopKind: "suspended", pending: [first.gate.pending()[0]?.id] })
    const second = await moveTo(first, office(answers.slice(1)))
    approve(second.gate, begun)
    expect(answerText(await second.runner.run())).toMatch(/^told: .*clerk did it/u)
    expect(ledger).toEqual(["clerk thinks of tidy up", "clerk acts"])
  })
})
