import { describe, expect, it } from "vitest"
import { ComponentRegistry } from "../../core/index.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import { memoryComponents } from "../../memory/index.ts"
import { ReplayChatCompletionClient } from "../../models/replay/index.ts"
import { toolResultText } from "../../tools/index.ts"
import { AssistantAgent } from "../agents/assistant/index.ts"
import { MaxMessageTermination } from "../conditions/index.ts"
import { ScriptedAgent, untilAborted } from "../scripted-agent.test-kit.ts"
import { sumUsage } from "../task/index.ts"
import { RoundRobinGroupChat, SelectorGroupChat } from "../teams/index.ts"
import { TeamTool } from "./index.ts"
import { model, textOf } from "./runner-tools.test-kit.ts"

describe("TeamTool", () => {
  const about = { name: "crew", description: "Works." }

  it("does parallel calls of one team, each as its first", async () => {
    const a = new ScriptedAgent("a", ({ turn }) => `a${turn}`)
    await using team = new RoundRobinGroupChat({ participants: [a, new ScriptedAgent("b")], maxTurns: 2 })
    const crew = new TeamTool({ team, ...about })
    const results = await Promise.all(["one", "two"].map((task) => crew.run({ task })))
    expect(results.map(({ isError }) => isError)).toEqual([false, false])
    expect(results.map((result) => toolResultText(result))).toEqual(["a: a1\n\nb: b1", "a: a1\n\nb: b1"])
    expect(a.heard).toEqual([["one"], ["two"]])
  })

  it("keeps the team's conversation when it is told to", async () => {
    const a = new ScriptedAgent("a")
    await using team = new RoundRobinGroupChat({ participants: [a], maxTurns: 1 })
    const crew = new TeamTool({ team, ...about, state: "kept" })
    await crew.run({ task: "one" })
    expect(await textOf(crew.run({ task: "two" }))).toBe("a: a2")
    expect(await crew.saveState()).toEqual(await team.saveState())
  })

  it("makes a team for each call when it is given a function", async () => {
    const crew = new TeamTool({
      team: () => new RoundRobinGroupChat({ participants: [new ScriptedAgent("a")], maxTurns: 1 }),
      ...about,
    })
    const results = await Promise.all(["one", "two"].map((task) => textOf(crew.run({ task }))))
    expect(results).toEqual(["a: a1", "a: a1"])
  })

  it("says so when the team says nothing", async () => {
    await using team = new RoundRobinGroupChat({
      participants: [new ScriptedAgent("a")],
      terminationCondition: new MaxMessageTermination(1),
    })
    expect(await textOf(new TeamTool({ team, ...about }).run({ task: "x" }))).toMatch(/said nothing/)
  })

  it("adds up what the team's own model calls used too", async () => {
    const speaker = model("one", "two")
    const selector = model("a", "b")
    const outer = model([{ id: "1", name: "crew", arguments: '{"task":"go"}' }], "done")
    await using team = new SelectorGroupChat({
      participants: [
        new AssistantAgent({ name: "a", modelClient: speaker }),
        new AssistantAgent({ name: "b", modelClient: speaker }),
        new ScriptedAgent("c"),
      ],
      modelClient: selector,
      maxTurns: 2,
    })
    const boss = new AssistantAgent({
      name: "boss",
      modelClient: outer,
      tools: [new TeamTool({ team, ...about })],
    })
    const { usage, messages } = await boss.run("task")
    expect(selector.actualUsage().promptTokens).toBeGreaterThan(0)
    expect(usage).toEqual(
      sumUsage([speaker, selector, outer].map((client) => ({ modelsUsage: client.actualUsage() }))),
    )
    expect(sumUsage(messages)).toEqual(usage)
  })

  it("ends the team's run when the call is aborted, and the team is free again", async () => {
    const began = gate()
    let isFirst = true
    const a = new ScriptedAgent("a", (context) => {
      if (!isFirst) return "done"
      isFirst = false
      return untilAborted(began.open)(context)
    })
    await using team = new RoundRobinGroupChat({ participants: [a], maxTurns: 1 })
    const crew = new TeamTool({ team, ...about })
    const controller = new AbortController()
    const { signal } = controller
    const calls = ["x", "y"].map((task) => crew.run({ task }, { signal }))
    await began.promise
    controller.abort(new Error("enough"))
    for (const call of calls) await expect(call).rejects.toThrow("enough")
    expect(await textOf(crew.run({ task: "z" }))).toBe("a: done")
    expect(a.heard).toEqual([["x"], ["z"]])
  })

  it("is written down as data, made again from it, and ended with what it was made for", async () => {
    const registry = new ComponentRegistry([
      TeamTool.definition,
      RoundRobinGroupChat.definition,
      AssistantAgent.definition,
      ReplayChatCompletionClient.definition,
      ...memoryComponents,
    ])
    const agent = new AssistantAgent({ name: "a", modelClient: model() })
    const team = new RoundRobinGroupChat({ participants: [agent] })
    const data = new TeamTool({ team, ...about }).toComponent()
    const alias = { ...data, provider: "autogen_agentchat.tools.TeamTool" }
    const again = registry.load(alias, TeamTool)
    expect(again.toComponent()).toEqual(data)
    await again[Symbol.asyncDispose]()
    expect(await textOf(again.run({ task: "x" }))).toMatch(/closed/)
    const made = new TeamTool({ team: () => team, ...about })
    expect(failureOf(() => made.toComponent())).toMatch(/^COMPONENT_INVALID: team is a function/)
    expect(failureOf(() => new TeamTool({ team: agent as never, ...about }))).toMatch(/must be a team/)
  })
})
