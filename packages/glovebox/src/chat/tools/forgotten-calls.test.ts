import { beforeEach, describe, expect, it } from "vitest"
import type { JsonObject } from "../../core/index.ts"
import { ApprovalGate } from "../../governance/approval/index.ts"
import type { Governance } from "../../governance/index.ts"
import { GovernedPlace } from "../../governance/governance.test-kit.ts"
import type { ReplayResponse } from "../../models/replay/index.ts"
import { tool } from "../../tools/index.ts"
import { payTool } from "../agents/assistant/assistant-suspended.test-kit.ts"
import { call, forever, toolThat } from "../agents/assistant/assistant.test-kit.ts"
import { AssistantAgent } from "../agents/assistant/index.ts"
import { answerText } from "../task/index.ts"
import { RoundRobinGroupChat } from "../teams/index.ts"
import { AgentTool } from "./agent-tool.ts"
import { model } from "./runner-tools.test-kit.ts"

let paid: number[] = []

beforeEach(() => {
  paid = []
})

const PAY = [call("pay", { euros: 7 }, "call-7")]
const saysAll: ReplayResponse = (messages) =>
  messages
    .map(({ type, content }) => (type !== "SystemMessage" && typeof content === "string" ? content : ""))
    .filter(Boolean)
    .join("|")
const ask = (task: string, id: string): ReplayResponse => [call("clerk", { task }, id)]
const lastResult: ReplayResponse = (messages) => JSON.stringify(messages.at(-1)?.content)

/** A boss with a clerk who remembers; the clerk was greeted, and then waits for leave to pay. */
function office(
  script: readonly ReplayResponse[],
  inner: readonly ReplayResponse[],
  governance?: Governance,
): AssistantAgent {
  const gate = new ApprovalGate({ suspend: true })
  const clerk = new AssistantAgent({
    name: "clerk",
    modelClient: model(...inner),
    tools: [payTool(paid)],
    approve: gate.forTools({ agent: "clerk" }),
  })
  return new AssistantAgent({
    name: "boss",
    modelClient: model(...script),
    tools: [
      new AgentTool({ agent: clerk, state: "kept", returnValueAsLastMessage: true }),
      toolThat("hang", forever),
    ],
    governance,
  })
}

const BEFORE = [ask("hi", "1"), ask("pay", "2")]
const AFTER = [ask("how are you", "3"), lastResult]
/** As if the call that waited had not been made. */
const REMEMBERED = expect.stringContaining('"hi|hello|how are you"')

describe("a tool whose agent remembers, and waits in a call that does not come again", () => {
  it("is free when its caller forgets the conversation", async () => {
    const boss = office([...BEFORE, ...AFTER], ["hello", PAY, saysAll])
    await using team = new RoundRobinGroupChat({ participants: [boss], maxTurns: 1 })
    expect((await team.run("go")).stopKind).toBe("suspended")
    await team.reset()
    expect(answerText(await team.run("once more"))).toEqual(REMEMBERED)
    expect(paid).toEqual([])
  })

  it("is free behind rules too", async () => {
    await using place = await GovernedPlace.make({ filter: false })
    const boss = office([...BEFORE, ...AFTER], ["hello", PAY, saysAll], place.governance)
    expect((await boss.run("go")).stopKind).toBe("suspended")
    await boss.onReset()
    expect(answerText(await boss.run("once more"))).toMatch(/hi\|hello\|how are you/u)
  })

  it("is free in another process too", async () => {
    const boss = office(BEFORE, ["hello", PAY])
    await boss.run("go")
    await boss.onReset()
    const state = JSON.parse(JSON.stringify(await boss.saveState())) as JsonObject
    const other = office(AFTER, [saysAll])
    await other.loadState(state)
    expect(answerText(await other.run("once more"))).toEqual(REMEMBERED)
  })

  it("is free when its caller is given another state", async () => {
    const boss = office([...BEFORE, ...AFTER], ["hello", PAY, saysAll])
    const fresh = await boss.saveState()
    await boss.run("go")
    await boss.loadState(fresh)
    expect(answerText(await boss.run("once more"))).toEqual(expect.stringContaining('"how are you"'))
  })

  it("is free when the turn of its caller is cancelled", async () => {
    const both = [call("clerk", { task: "pay" }, "2"), call("hang", {}, "h")]
    const boss = office([ask("hi", "1"), both, ...AFTER], ["hello", PAY, saysAll])
    const cancel = new AbortController()
    const running = (async () => {
      for await (const item of boss.runStream("go", { signal: cancel.signal })) {
        if (item.type === "ToolCallRequestEvent" && item.source === "clerk")
          setImmediate(() => cancel.abort("no"))
      }
    })()
    await expect(running).rejects.toBe("no")
    expect(answerText(await boss.run("once more"))).toEqual(REMEMBERED)
  })

  it("is free when the call is cut off, also while its caller waits on for others", async () => {
    const cancel = new AbortController()
    const gate = new ApprovalGate({ suspend: true })
    const hang = tool({
      name: "hang",
      description: "Never ends",
      approval: true,
      execute: () => {
        cancel.abort("no")
        return forever()
      },
    })
    const clerk = new AssistantAgent({
      name: "clerk",
      modelClient: model([call("hang")], saysAll),
      tools: [hang],
      approve: gate.forTools({ agent: "clerk" }),
    })
    const both = [call("clerk", { task: "hang" }, "1"), call("pay", { euros: 7 }, "2")]
    const boss = new AssistantAgent({
      name: "boss",
      modelClient: model(both, ...AFTER),
      tools: [new AgentTool({ agent: clerk, state: "kept" }), payTool(paid)],
      approve: gate.forTools({ agent: "boss" }),
    })
    await boss.run("go")
    const idOf = (name: string): string => gate.pending().find(({ agent }) => agent === name)?.id ?? ""
    gate.answer(idOf("clerk"), { decision: "approve" })
    await expect(boss.run(undefined, { signal: cancel.signal })).rejects.toBe("no")
    expect(await boss.run()).toMatchObject({ stopKind: "suspended", pending: [idOf("boss")] })
    gate.answer(idOf("boss"), { decision: "approve" })
    expect(answerText(await boss.run())).toContain("clerk: how are you")
    expect(paid).toEqual([7])
  })

  it("waits on for a call that still comes, with those made beside it", async () => {
    const both = [call("clerk", { task: "pay" }, "2"), call("clerk", { task: "how are you" }, "3")]
    const boss = office([ask("hi", "1"), both], ["hello", PAY])
    const begun = await boss.run("go")
    expect(begun.pending).toHaveLength(1)
    expect(await boss.run()).toMatchObject({ stopKind: "suspended", pending: begun.pending, messages: [] })
  })
})

describe.each(["fresh", "kept"] as const)("a call of a %s agent that itself needs leave", (state) => {
  it.each(["approve", "edit"] as const)(
    "is asked for once (%s), and goes on with what was begun",
    async (decision) => {
      await using place = await GovernedPlace.make({
        approval: { suspend: true, rules: [{ when: {}, then: "ask" }] },
      })
      const { governance } = place
      const { gate } = governance
      const clerk = new AssistantAgent({
        name: "clerk",
        modelClient: model(PAY, "It is paid."),
        tools: [payTool(paid)],
        governance,
      })
      const boss = new AssistantAgent({
        name: "boss",
        modelClient: model(ask("pay", "1"), "Done."),
        tools: [new AgentTool({ agent: clerk, state })],
        governance,
      })
      const edited = {
        decision: "edit",
        payload: { tool: "clerk", arguments: { task: "pay, please" } },
      } as const
      const asked: string[] = []
      let result = await boss.run("go")
      while (result.stopKind === "suspended" && asked.length < 5) {
        for (const { id, agent } of gate?.pending() ?? []) {
          asked.push(agent)
          gate?.answer(id, agent === "boss" && decision === "edit" ? edited : { decision: "approve" })
        }
        await boss.loadState(JSON.parse(JSON.stringify(await boss.saveState())) as JsonObject)
        result = await boss.run()
      }
      expect([asked, paid, answerText(result)]).toEqual([["boss", "clerk"], [7], "Done."])
    },
  )
})
