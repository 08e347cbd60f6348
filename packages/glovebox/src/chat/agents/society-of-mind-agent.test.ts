import { describe, expect, it } from "vitest"
import { ComponentRegistry } from "../../core/index.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import { BufferedChatCompletionContext, memoryComponents } from "../../memory/index.ts"
import { ReplayChatCompletionClient, type ReplayResponse } from "../../models/replay/index.ts"
import { MaxMessageTermination, TextMentionTermination } from "../conditions/index.ts"
import {
  HandoffMessage,
  ModelClientStreamingChunkEvent,
  MultiModalMessage,
  TextMessage,
  ThoughtEvent,
  toText,
} from "../messages/index.ts"
import { ScriptedAgent, untilAborted } from "../scripted-agent.test-kit.ts"
import { type TaskResult, sumUsage } from "../task/index.ts"
import { RoundRobinGroupChat, SelectorGroupChat, Swarm } from "../teams/index.ts"
import { AssistantAgent } from "./assistant/index.ts"
import { SocietyOfMindAgent } from "./society-of-mind-agent.ts"

const PIXEL = { type: "Image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const

function model(...responses: readonly ReplayResponse[]): ReplayChatCompletionClient {
  return new ReplayChatCompletionClient(responses)
}

function pair(...agents: readonly ScriptedAgent[]): RoundRobinGroupChat {
  return new RoundRobinGroupChat({ participants: agents, maxTurns: agents.length })
}

function said({ messages }: Pick<TaskResult, "messages">): string[] {
  return messages.map((message) => `${message.source}: ${toText(message)}`)
}

describe("SocietyOfMindAgent", () => {
  it("lets its team work, shows how, and answers in its own words", async () => {
    const modelClient = model("The answer.")
    const [a, b] = [new ScriptedAgent("a"), new ScriptedAgent("b")]
    await using society = new SocietyOfMindAgent({ name: "society", team: pair(a, b), modelClient })
    const streamed: string[] = []
    for await (const item of society.runStream("Why?")) {
      if (item.type !== "TaskResult") streamed.push(`${item.source}: ${toText(item)}`)
    }
    expect(streamed).toEqual(["user: Why?", "a: a1", "b: b1", "society: The answer."])
    const [call] = modelClient.createCalls
    expect(call?.messages.map(({ type, content }) => [type, content])).toEqual([
      ["SystemMessage", expect.any(String)],
      ["UserMessage", "Why?"],
      ["UserMessage", "a1"],
      ["UserMessage", "b1"],
      ["UserMessage", expect.any(String)],
    ])
    expect([a.calls, b.calls]).toEqual([["reset"], ["reset"]])
  })

  it("gives run and runStream the same messages", async () => {
    const events = (): readonly ThoughtEvent[] => [ThoughtEvent({ content: "hm", source: "a" })]
    const chunk = ModelClientStreamingChunkEvent({ content: "a", source: "a" })
    const make = (): SocietyOfMindAgent =>
      new SocietyOfMindAgent({
        name: "society",
        team: pair(new ScriptedAgent("a", undefined, { events: () => [...events(), chunk] })),
        modelClient: model({ content: "answer", thought: "so" }),
      })
    const expected = ["user: task", "a: hm", "a: a1", "society: so", "society: answer"]
    await using one = make()
    expect(said(await one.run("task"))).toEqual(expected)
    await using other = make()
    const types: string[] = []
    const results: TaskResult[] = []
    for await (const item of other.runStream("task")) {
      types.push(item.type)
      if (item.type === "TaskResult") results.push(item)
    }
    expect(results.map(said)).toEqual([expected])
    expect(types).toContain("ModelClientStreamingChunkEvent")
  })

  it("tells the others of an outer team the answer only, and what all of it used", async () => {
    const speaker = model("one", "two")
    const selector = model("a", "b")
    const modelClient = model("The answer.")
    const inner = new SelectorGroupChat({
      participants: [
        new AssistantAgent({ name: "a", modelClient: speaker }),
        new AssistantAgent({ name: "b", modelClient: speaker }),
        new ScriptedAgent("c"),
      ],
      modelClient: selector,
      maxTurns: 2,
    })
    const listener = new ScriptedAgent("listener")
    await using society = new SocietyOfMindAgent({ name: "society", team: inner, modelClient })
    await using team = new RoundRobinGroupChat({ participants: [society, listener], maxTurns: 2 })
    const result = await team.run("task")
    expect(said(result)).toEqual([
      "user: task",
      "a: one",
      "b: two",
      "society: The answer.",
      "listener: listener1",
    ])
    expect(listener.heard).toEqual([["task", "The answer."]])
    const used = [speaker, selector, modelClient].map((client) => ({ modelsUsage: client.actualUsage() }))
    expect(selector.actualUsage().promptTokens).toBeGreaterThan(0)
    expect(result.usage).toEqual(sumUsage(used))
    expect(sumUsage(result.messages)).toEqual(result.usage)
  })

  it("tells its team in one message what was said before", async () => {
    const a = new ScriptedAgent("a")
    const team = new RoundRobinGroupChat({
      participants: [a],
      terminationCondition: new MaxMessageTermination(3),
    })
    const modelClient = model("first answer", "second answer", "third answer")
    await using society = new SocietyOfMindAgent({ name: "society", team, modelClient })
    await society.run("one")
    await society.run([TextMessage({ content: "two", source: "user" })])
    await society.run("three")
    expect(a.heard[0]).toEqual(["one"])
    expect(a.heard.at(-1)).toEqual([
      expect.stringMatching(/user: one\n\nsociety: first answer\n\nuser: two\n\nsociety: second answer$/),
      "three",
    ])
    expect(modelClient.createCalls[2]?.messages.slice(1, 6).map(({ content }) => content)).toEqual([
      "one",
      "first answer",
      "two",
      "second answer",
      "three",
    ])
  })

  it("works with a team that hands off, time and again, and when it was handed to itself", async () => {
    const a = new ScriptedAgent("a", () => HandoffMessage({ content: "yours", source: "a", target: "b" }), {
      producedMessageTypes: ["HandoffMessage"],
    })
    const b = new ScriptedAgent("b", () => "DONE")
    const team = new Swarm({ participants: [a, b], terminationCondition: new TextMentionTermination("DONE") })
    const modelClient = model("first", "second", "third")
    await using society = new SocietyOfMindAgent({ name: "society", team, modelClient })
    await society.run("one")
    expect(said(await society.run("two"))).toEqual(["user: two", "a: yours", "b: DONE", "society: second"])
    const context = [
      {
        type: "FunctionExecutionResultMessage",
        content: [{ callId: "1", name: "find", content: "order 17" }],
      },
    ] as const
    await society.run(HandoffMessage({ content: "go on", source: "outside", target: "society", context }))
    expect(a.heard[2]?.at(-1)).toBe("find: order 17\n\ngo on")
  })

  it("says so when its team says nothing, and asks no model", async () => {
    const team = new RoundRobinGroupChat({
      participants: [new ScriptedAgent("a")],
      terminationCondition: new MaxMessageTermination(1),
    })
    await using society = new SocietyOfMindAgent({ name: "society", team, modelClient: model() })
    expect(said(await society.run("task"))).toEqual([
      "user: task",
      "society: The team said nothing about it.",
    ])
  })

  it("works without a task", async () => {
    const a = new ScriptedAgent("a")
    await using society = new SocietyOfMindAgent({
      name: "society",
      team: pair(a),
      modelClient: model("answer"),
    })
    expect(said(await society.run())).toEqual(["a: a1", "society: answer"])
    expect(a.heard).toEqual([[]])
  })

  it("shows images to its team, and to a model that sees them only", async () => {
    const a = new ScriptedAgent("a", ({ heard }) => heard.map(({ type }) => type).join())
    const modelInfo = { ...model().modelInfo, vision: false }
    const modelClient = new ReplayChatCompletionClient(["one", "two"], { modelInfo })
    await using society = new SocietyOfMindAgent({ name: "society", team: pair(a), modelClient })
    await society.run(MultiModalMessage({ content: ["look", PIXEL], source: "user" }))
    expect(said(await society.run("again"))[1]).toBe("a: MultiModalMessage,TextMessage")
    expect(modelClient.createCalls[1]?.messages[1]?.content).toBe("look\n[image: image/png]")
  })

  it("uses the words it is given", async () => {
    const modelClient = model("answer")
    await using society = new SocietyOfMindAgent({
      name: "society",
      team: pair(new ScriptedAgent("a")),
      modelClient,
      instruction: "First.",
      responsePrompt: "Last.",
      description: "Knows.",
    })
    await society.run("task")
    const contents = modelClient.createCalls[0]?.messages.map(({ content }) => content)
    expect(contents).toEqual(["First.", "task", "a1", "Last."])
    expect(society.description).toBe("Knows.")
  })

  it("is free again after an abort, and takes nothing of that turn twice", async () => {
    const began = gate()
    let isFirst = true
    const a = new ScriptedAgent("a", (context) => {
      if (!isFirst) return "a done"
      isFirst = false
      return untilAborted(began.open)(context)
    })
    const b = new ScriptedAgent("b")
    const modelClient = model("answer")
    await using society = new SocietyOfMindAgent({ name: "society", team: pair(b, a), modelClient })
    await using outer = new RoundRobinGroupChat({ participants: [society], maxTurns: 1 })
    const controller = new AbortController()
    const run = outer.run("task", { signal: controller.signal })
    await began.promise
    controller.abort(new Error("enough"))
    await expect(run).rejects.toThrow("enough")
    expect(said(await outer.run())).toEqual(["b: b1", "a: a done", "society: answer"])
    // The team had forgotten the turn that was cancelled.
    expect(b.heard).toEqual([["task"], ["task"]])
    expect(modelClient.createCalls[0]?.messages.map(({ content }) => content).slice(1, -1)).toEqual([
      "task",
      "b1",
      "a done",
    ])
  })

  it("ends its team when its stream is left", async () => {
    const began = gate()
    const b = new ScriptedAgent("b", untilAborted(began.open))
    const team = pair(new ScriptedAgent("a"), b)
    await using society = new SocietyOfMindAgent({ name: "society", team, modelClient: model("answer") })
    for await (const item of society.runStream("task")) {
      if (item.type === "TaskResult" || item.source !== "a") continue
      await began.promise
      break
    }
    // A team that runs refuses this.
    await team.reset()
    expect(b.heard).toHaveLength(1)
  })

  it("fails with what its model fails with, and works again", async () => {
    const a = new ScriptedAgent("a")
    const modelClient = model(new Error("no model today"), "answer")
    await using society = new SocietyOfMindAgent({ name: "society", team: pair(a), modelClient })
    await expect(society.run("task")).rejects.toThrow("no model today")
    expect(said(await society.run("task"))).toEqual(["user: task", "a: a1", "society: answer"])
    expect(a.heard).toEqual([["task"], ["task"]])
  })

  it("keeps what it was asked and its team's state in its own", async () => {
    const make = (a: ScriptedAgent, ...answers: string[]): SocietyOfMindAgent =>
      new SocietyOfMindAgent({ name: "society", team: pair(a), modelClient: model(...answers) })
    await using one = make(new ScriptedAgent("a"), "first")
    await one.run("one")
    const state = JSON.parse(JSON.stringify(await one.saveState()))
    const a = new ScriptedAgent("a")
    await using other = make(a, "second", "third")
    await other.loadState(state)
    expect(await other.saveState()).toEqual(state)
    await other.run("two")
    expect(a.heard[0]).toEqual([expect.stringContaining("society: first"), "two"])
    await expectFailure(other.loadState({}), "STATE_INVALID")
    await expectFailure(other.loadState({ ...state, team: {} }), "STATE_INVALID")
    await other.onReset({ signal: new AbortController().signal })
    await other.run("three")
    expect(a.heard[1]).toEqual(["three"])
  })

  it("pauses, resumes and closes its team", async () => {
    const a = new ScriptedAgent("a")
    const society = new SocietyOfMindAgent({ name: "society", team: pair(a), modelClient: model("x") })
    await society.onPause()
    await society.onResume()
    expect(a.calls).toEqual(["pause", "resume"])
    await society.close()
    await expectFailure(society.run("task"), "RUN_ACTIVE", /closed/)
  })

  it("is written down as data, and made again from it", () => {
    const registry = new ComponentRegistry([
      SocietyOfMindAgent.definition,
      RoundRobinGroupChat.definition,
      AssistantAgent.definition,
      ReplayChatCompletionClient.definition,
      ...memoryComponents,
    ])
    const society = new SocietyOfMindAgent({
      name: "society",
      team: new RoundRobinGroupChat({
        participants: [new AssistantAgent({ name: "a", modelClient: model() })],
      }),
      modelClient: model("x"),
      instruction: "First.",
      modelContext: new BufferedChatCompletionContext({ bufferSize: 3 }),
    })
    const data = society.toComponent()
    expect(data.config).toMatchObject({
      name: "society",
      instruction: "First.",
      team: { component_type: "team" },
    })
    const alias = { ...data, provider: "autogen_agentchat.agents.SocietyOfMindAgent" }
    expect(registry.load(alias, SocietyOfMindAgent).toComponent()).toEqual(data)
    const wrong = { ...data, config: { ...data.config, team: data.config["model_client"] } }
    expect(failureOf(() => registry.load(wrong))).toMatch(/^COMPONENT_INVALID: .*is no team/)
    const unnamed = new SocietyOfMindAgent({
      name: "s",
      team: pair(new ScriptedAgent("a")),
      modelClient: model(),
    })
    expect(failureOf(() => unnamed.toComponent())).toMatch(/^COMPONENT_INVALID: a cannot be written down/)
  })

  it("refuses options that it cannot use", () => {
    const options = { name: "s", team: pair(new ScriptedAgent("a")), modelClient: model() }
    const make = (change: object): string =>
      failureOf(() => new SocietyOfMindAgent({ ...options, ...change }))
    expect(make({ team: new ScriptedAgent("a") })).toMatch(/^OPTION_INVALID: .*team: is no team/)
    expect(make({ modelClient: {} })).toMatch(/modelClient: is no model client/)
    expect(make({ response_prompt: "x" })).toMatch(/did you mean responsePrompt/)
    expect(make({ name: "no name" })).toMatch(/^AGENT_INVALID/)
  })
})
