import { describe, expect, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import type { AgentRuntime } from "../../core/index.ts"
import { ApprovalGate } from "../../governance/approval/index.ts"
import { ReplayChatCompletionClient, type ReplayResponse } from "../../models/replay/index.ts"
import { call, toolThat } from "../agents/assistant/assistant.test-kit.ts"
import { FakeExecutor, python } from "../agents/code-executor/fake-executor.test-kit.ts"
import { AssistantAgent, CodeExecutorAgent, SocietyOfMindAgent, UserProxyAgent } from "../agents/index.ts"
import { Clerk, approve, lines, moveTo } from "../clerk.test-kit.ts"
import { HandoffTermination, MaxMessageTermination, TextMentionTermination } from "../conditions/index.ts"
import {
  HandoffMessage,
  ModelClientStreamingChunkEvent,
  MultiModalMessage,
  StructuredMessage,
  ThoughtEvent,
  defineChatMessage,
  toText,
} from "../messages/index.ts"
import { ScriptedAgent, untilAborted } from "../scripted-agent.test-kit.ts"
import { AgentTool } from "../tools/index.ts"
import {
  DiGraphBuilder,
  GraphFlow,
  MagenticOneGroupChat,
  RoundRobinGroupChat,
  SelectorGroupChat,
  Swarm,
} from "./index.ts"
import { SATISFIED, ledgerText } from "./magentic-one/ledger.test-kit.ts"

/** Where the teams of a test live. */
export interface TeamPlace extends AsyncDisposable {
  /** Where the team is. */
  readonly runtime: AgentRuntime
  /** Where agents are that it reaches from afar; it may be the same. */
  readonly far: AgentRuntime
}

export type OpenTeamPlace = () => Promise<TeamPlace>

const PIXEL = { type: "Image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const
const Order = defineChatMessage("WireOrder", { item: z.string() }, { toText: ({ item }) => `Bring ${item}.` })

const model = (...answers: readonly ReplayResponse[]): ReplayChatCompletionClient =>
  new ReplayChatCompletionClient(answers)
const agents = (...names: readonly string[]): ScriptedAgent[] => names.map((name) => new ScriptedAgent(name))

/** The tests that teams of each kind pass wherever they live. */
export function describeTeamsOn(name: string, open: OpenTeamPlace): void {
  describe(`teams on ${name}`, () => {
    it("take turns, and tell what happens as it happens", async () => {
      await using place = await open()
      const events = (turn: number): readonly (ThoughtEvent | ModelClientStreamingChunkEvent)[] => [
        ThoughtEvent({ content: `thought ${turn}`, source: "a" }),
        ModelClientStreamingChunkEvent({ content: "a", source: "a" }),
      ]
      const a = new ScriptedAgent("a", undefined, { events })
      const b = new ScriptedAgent("b")
      await using team = new RoundRobinGroupChat({
        participants: [a, b],
        maxTurns: 3,
        runtime: place.runtime,
        emitTeamEvents: true,
      })
      const told: string[] = []
      for await (const item of team.runStream("hi")) {
        if (item.type !== "TaskResult") told.push(`${item.type} ${toText(item)}`)
      }
      const turn = (number: number): string[] => [
        "SelectSpeakerEvent a",
        `ThoughtEvent thought ${number}`,
        "ModelClientStreamingChunkEvent a",
        `TextMessage a${number}`,
      ]
      const between = ["SelectSpeakerEvent b", "TextMessage b1"]
      expect(told).toEqual(["TextMessage hi", ...turn(1), ...between, ...turn(2)])
      expect(b.heard).toEqual([["hi", "a1"]])
    })

    it("let a model choose who speaks", async () => {
      await using place = await open()
      await using team = new SelectorGroupChat({
        participants: agents("a", "b", "c"),
        modelClient: model("b", "c"),
        maxTurns: 2,
        runtime: place.runtime,
      })
      expect(lines(await team.run("hello"))).toEqual(["user: hello", "b: b1", "c: c1"])
    })

    it("pass the word with what the next one needs to know", async () => {
      await using place = await open()
      const context = [{ type: "UserMessage", content: "looked it up", source: "a" }] as const
      const heard: unknown[] = []
      const a = new ScriptedAgent(
        "a",
        () => HandoffMessage({ content: "yours", target: "b", source: "a", context }),
        { producedMessageTypes: ["HandoffMessage"] },
      )
      const b = new ScriptedAgent("b", ({ heard: messages }) => {
        heard.push(...messages.flatMap((message) => (HandoffMessage.is(message) ? message.context : [])))
        return HandoffMessage({ content: "done", target: "user", source: "b" })
      })
      await using team = new Swarm({
        participants: [a, b],
        terminationCondition: new HandoffTermination("user"),
        runtime: place.runtime,
      })
      const result = await team.run("go")
      expect(lines(result)).toEqual(["user: go", "a: yours", "b: done"])
      expect(result.stopKind).toBe("condition")
      expect(heard).toEqual(context)
    })

    it("go along a graph, several at a time", async () => {
      await using place = await open()
      const both = gate()
      let speaking = 0
      const waits = (agent: string): ScriptedAgent =>
        new ScriptedAgent(agent, async () => {
          speaking += 1
          if (speaking === 2) both.open()
          await both.promise
          return agent
        })
      const [a, d] = agents("a", "d") as [ScriptedAgent, ScriptedAgent]
      const [b, c] = [waits("b"), waits("c")]
      const graph = new DiGraphBuilder()
        .addEdge(a, b, { condition: (message) => message.type === "TextMessage" })
        .addEdge(a, c, { condition: "a1" })
        .addEdge(b, d)
        .addEdge(c, d)
      await using team = new GraphFlow({ graph, runtime: place.runtime })
      const result = await team.run("go")
      expect(lines(result).toSorted()).toEqual(["a: a1", "b: b", "c: c", "d: d1", "user: go"])
      expect(result.stopKind).toBe("completed")
      expect(d.heard[0]?.toSorted()).toEqual(["a1", "b", "c", "go"])
    })

    it("plan, give each agent its part, and write the answer", async () => {
      await using place = await open()
      const modelClient = model("facts", "plan", ledgerText({ next: "b" }), SATISFIED, "It is 42.")
      await using team = new MagenticOneGroupChat({
        participants: agents("a", "b"),
        modelClient,
        runtime: place.runtime,
      })
      const result = await team.run("What is it?")
      expect(lines(result).slice(-2)).toEqual(["b: b1", "MagenticOneOrchestrator: It is 42."])
      expect(result.stopKind).toBe("completed")
    })

    it("have societies and teams in them, which live there too", async () => {
      await using place = await open()
      const { runtime } = place
      const inner = new RoundRobinGroupChat({ participants: agents("x", "y"), maxTurns: 2, runtime })
      const society = new SocietyOfMindAgent({
        name: "society",
        team: inner,
        modelClient: model("We agree."),
      })
      const nested = new RoundRobinGroupChat({
        name: "nested",
        participants: agents("n"),
        maxTurns: 1,
        runtime,
      })
      await using team = new RoundRobinGroupChat({ participants: [society, nested], maxTurns: 2, runtime })
      const result = await team.run("Why?")
      expect(lines(result)).toEqual(["user: Why?", "x: x1", "y: y1", "society: We agree.", "n: n1"])
      await inner.close()
      await nested.close()
    })

    it("wait for approvals, and go on in another team with their state", async () => {
      await using place = await open()
      const ledger: string[] = []
      const office = (): { gate: ApprovalGate; runner: RoundRobinGroupChat } => {
        const approvals = new ApprovalGate({ suspend: true })
        const clerk = new Clerk("clerk", approvals, (line) => ledger.push(line))
        const participants = [clerk, new ScriptedAgent("helper")]
        return {
          gate: approvals,
          runner: new RoundRobinGroupChat({ participants, maxTurns: 2, runtime: place.runtime }),
        }
      }
      const first = office()
      await using team = first.runner
      const begun = await team.run("tidy up")
      expect(begun).toMatchObject({ stopKind: "suspended", pending: [expect.any(String)] })
      const second = await moveTo(first, office())
      await using other = second.runner
      approve(second.gate, begun)
      expect(lines(await other.run())).toEqual(["clerk: clerk did it", "helper: helper1"])
      expect(ledger).toEqual(["clerk thinks of tidy up", "clerk acts"])
    })

    it("ask a person, run code, and call tools and agents as tools", async () => {
      await using place = await open()
      const inner = new AssistantAgent({ name: "expert", modelClient: model("Ask Bob.") })
      const assistant = new AssistantAgent({
        name: "assistant",
        modelClient: model([call("expert", { task: "who?" }), call("look")], "Bob knows."),
        tools: [new AgentTool({ agent: inner }), toolThat("look", "nothing there")],
        reflectOnToolUse: true,
      })
      const person = new UserProxyAgent({ name: "person", input: async () => python("print(42)") })
      const runner = new CodeExecutorAgent({ name: "runner", codeExecutor: new FakeExecutor("42\n") })
      await using team = new RoundRobinGroupChat({
        participants: [assistant, person, runner],
        maxTurns: 3,
        runtime: place.runtime,
      })
      const { messages } = await team.run("Who knows?")
      const types = messages.map(({ type }) => type)
      expect(types).toEqual(
        expect.arrayContaining([
          "ToolCallRequestEvent",
          "ToolCallExecutionEvent",
          "UserInputRequestedEvent",
          "CodeExecutionEvent",
        ]),
      )
      expect(messages.at(-1)).toMatchObject({ source: "runner", content: "42" })
    })

    it("say messages of one's own types, with images and with structure", async () => {
      await using place = await open()
      const seen: unknown[] = []
      const order = Order({ source: "a", item: "tea", modelsUsage: { promptTokens: 1, completionTokens: 2 } })
      const content = { city: { name: "Oslo" }, list: [1, null] }
      const [a, b, c] = [
        new ScriptedAgent("a", () => order as never),
        new ScriptedAgent("b", ({ heard }) => {
          seen.push(...heard)
          return MultiModalMessage({ source: "b", content: ["look", PIXEL] })
        }),
        new ScriptedAgent("c", ({ heard }) => {
          seen.push(...heard)
          return StructuredMessage({ source: "c", content, contentName: "Place" })
        }),
      ]
      await using team = new RoundRobinGroupChat({
        participants: [a, b, c],
        maxTurns: 3,
        runtime: place.runtime,
      })
      const result = await team.run(Order({ source: "user", item: "all" }))
      expect(lines(result).slice(0, 2)).toEqual(["user: Bring all.", "a: Bring tea."])
      expect(result.messages.slice(2)).toMatchObject([{ content: ["look", PIXEL] }, { content }])
      expect(seen.filter((message) => Order.is(message))).toHaveLength(4)
      expect(seen).toContainEqual(order)
      expect(result.usage).toEqual({ promptTokens: 1, completionTokens: 2 })
    })

    it("end where a condition says so, and begin anew after a reset", async () => {
      await using place = await open()
      await using team = new RoundRobinGroupChat({
        participants: agents("a", "b"),
        terminationCondition: new TextMentionTermination("b1").or(new MaxMessageTermination(9)),
        runtime: place.runtime,
      })
      for (const _time of [1, 2]) {
        const result = await team.run("go")
        expect(lines(result)).toEqual(["user: go", "a: a1", "b: b1"])
        expect(result.stopKind).toBe("condition")
        await team.reset()
      }
    })

    it("rest while they are paused", async () => {
      await using place = await open()
      const [a, b] = agents("a", "b") as [ScriptedAgent, ScriptedAgent]
      await using team = new RoundRobinGroupChat({
        participants: [a, b],
        maxTurns: 2,
        runtime: place.runtime,
      })
      await team.pause()
      const run = team.run("go")
      await team.saveState()
      expect(a.heard).toEqual([])
      await team.resume()
      expect(lines(await run)).toEqual(["user: go", "a: a1", "b: b1"])
      expect(a.calls).toEqual(["pause", "resume"])
    })

    it("stop with the reason of whoever cancels them, and run again", async () => {
      await using place = await open()
      const controller = new AbortController()
      const reason = new Error("enough")
      const seen: unknown[] = []
      const a = new ScriptedAgent("a", async (context) => {
        if (context.turn > 1) return "again"
        context.signal.addEventListener("abort", () => seen.push(context.signal.reason))
        return untilAborted(() => controller.abort(reason))(context)
      })
      await using team = new RoundRobinGroupChat({ participants: [a], maxTurns: 1, runtime: place.runtime })
      await expect(team.run("hi", { signal: controller.signal })).rejects.toBe(reason)
      expect(seen).toEqual([reason])
      expect(lines(await team.run("next"))).toEqual(["user: next", "a: again"])
      expect(a.heard).toEqual([["hi"], ["hi", "next"]])
    })

    it("stop when whoever reads them leaves", async () => {
      await using place = await open()
      const began = gate()
      let isStopped = false
      const a = new ScriptedAgent("a", async (context) => {
        if (context.turn > 1) return "again"
        context.signal.addEventListener("abort", () => (isStopped = true))
        return untilAborted(began.open)(context)
      })
      await using team = new RoundRobinGroupChat({ participants: [a], maxTurns: 1, runtime: place.runtime })
      for await (const _item of team.runStream("hi")) {
        await began.promise
        break
      }
      expect(isStopped).toBe(true)
      expect(lines(await team.run())).toEqual(["a: again"])
    })

    it("fail with an agent's error or time, in words, and run again", async () => {
      await using place = await open()
      let step: "fail" | "hang" | "speak" = "fail"
      const a = new ScriptedAgent("a", async (context) => {
        if (step === "fail") throw new Error("no such file")
        return step === "hang" ? untilAborted(() => {})(context) : "fine"
      })
      await using team = new RoundRobinGroupChat({
        participants: [a],
        maxTurns: 1,
        turnTimeout: 50,
        runtime: place.runtime,
      })
      await expectFailure(team.run("hi"), "AGENT_FAILED", /^a failed in its turn: no such file$/)
      step = "hang"
      await expectFailure(team.run(), "TURN_TIMEOUT", /a did not end its turn within 50 ms/)
      step = "speak"
      expect(lines(await team.run())).toEqual(["a: fine"])
    })
  })
}
