import { describe, expect, it } from "vitest"
import { gate } from "../../core/gate.test-kit.ts"
import { ReplayChatCompletionClient } from "../../models/replay/index.ts"
import {
  FunctionalTermination,
  MaxMessageTermination,
  TextMentionTermination,
  TimeoutTermination,
  TokenUsageTermination,
} from "../conditions/index.ts"
import { TextMessage, toText } from "../messages/index.ts"
import { ScriptedAgent, untilAborted } from "../scripted-agent.test-kit.ts"
import { RoundRobinGroupChat, SelectorGroupChat } from "./index.ts"

describe("a condition of a team", () => {
  it("looks at what was said to the team, and not at what was said inside of an agent", async () => {
    const inner = TextMessage({ content: "DONE", source: "inside" })
    const a = new ScriptedAgent("a", ({ turn }) => (turn === 3 ? "DONE" : "not yet"), {
      events: () => [inner],
    })
    const terminationCondition = new TextMentionTermination("DONE").or(new MaxMessageTermination(10))
    await using team = new RoundRobinGroupChat({ participants: [a], terminationCondition })
    const result = await team.run("say DONE at the end")
    expect(result.stopReason).toBe('a said "DONE".')
    expect(a.heard).toHaveLength(3)
  })

  it("counts the tokens of the team's own model calls, though they are not shown", async () => {
    const modelClient = new ReplayChatCompletionClient(["a", "b", "a", "b", "a"])
    const participants = [new ScriptedAgent("a"), new ScriptedAgent("b"), new ScriptedAgent("c")]
    await using team = new SelectorGroupChat({
      participants,
      modelClient,
      maxTurns: 5,
      terminationCondition: new TokenUsageTermination({ maxCompletionToken: 2 }),
    })
    const result = await team.run("go")
    expect(result).toMatchObject({ stopKind: "condition", usage: { completionTokens: 2 } })
  })

  it("sees each message once, and begins anew with each run", async () => {
    const seen: string[][] = []
    const terminationCondition = new FunctionalTermination((messages) => {
      seen.push(messages.map((message) => toText(message)))
      return seen.length % 3 === 0
    })
    await using team = new RoundRobinGroupChat({
      participants: [new ScriptedAgent("a"), new ScriptedAgent("b")],
      terminationCondition,
    })
    await team.run("hi")
    await team.run("on")
    expect(seen).toEqual([["hi"], ["a1"], ["b1"], ["on"], ["a2"], ["b2"]])
  })

  it("that is about time ends a turn in the middle", async () => {
    const a = new ScriptedAgent("a", (context) =>
      context.turn === 1 ? untilAborted(() => {})(context) : "quick",
    )
    await using team = new RoundRobinGroupChat({
      participants: [a],
      terminationCondition: new TimeoutTermination(20).or(new MaxMessageTermination(2)),
    })
    const result = await team.run("hi")
    expect(result).toMatchObject({ stopKind: "condition", messages: [{ content: "hi" }] })
    // The same turn is taken again, with what it had not answered.
    expect((await team.run("on")).messages.map(({ type }) => type)).toEqual(["TextMessage", "TextMessage"])
    expect(a.heard).toEqual([["hi"], ["hi", "on"]])
  })

  it("cannot be that of two teams at work, and neither is harmed by it", async () => {
    const shared = new MaxMessageTermination(2)
    const inner = new RoundRobinGroupChat({
      participants: [new ScriptedAgent("b")],
      terminationCondition: shared,
      name: "inner",
    })
    await using outer = new RoundRobinGroupChat({ participants: [inner], terminationCondition: shared })
    await expect(outer.run("hi")).rejects.toMatchObject({
      code: "AGENT_FAILED",
      message: expect.stringContaining("is at work in another run") as string,
    })
    // One after the other, they may share it.
    for (const _ of [1, 2]) {
      expect((await inner.run("hi")).messages.map(toText)).toEqual(["hi", expect.stringMatching(/^b/)])
    }
  })

  it("that never answers holds nobody up who aborts", async () => {
    const asked = gate()
    const terminationCondition = new FunctionalTermination(() => {
      asked.open()
      return new Promise<boolean>(() => {})
    })
    await using team = new RoundRobinGroupChat({
      participants: [new ScriptedAgent("a")],
      terminationCondition,
    })
    const controller = new AbortController()
    const run = team.run("hi", { signal: controller.signal })
    await asked.promise
    controller.abort(new Error("enough"))
    await expect(run).rejects.toThrow("enough")
  })

  it("that throws fails the run, and the next one works", async () => {
    let isBroken = true
    const terminationCondition = new FunctionalTermination((messages) => {
      if (isBroken) throw new Error("broken condition")
      return messages.some(({ source }) => source === "a")
    })
    await using team = new RoundRobinGroupChat({
      participants: [new ScriptedAgent("a")],
      terminationCondition,
    })
    await expect(team.run("hi")).rejects.toThrow("broken condition")
    isBroken = false
    expect((await team.run()).messages.map((message) => toText(message))).toEqual(["a1"])
  })

  it("has its counters in the team's state", async () => {
    const make = (): RoundRobinGroupChat =>
      new RoundRobinGroupChat({
        participants: [new ScriptedAgent("a")],
        terminationCondition: new MaxMessageTermination(4),
      })
    await using first = make()
    let state
    for await (const item of first.runStream("hi")) {
      if (item.type === "TextMessage" && item.content === "a1") {
        state = await first.saveState()
        break
      }
    }
    await using second = make()
    await second.loadState(state ?? {})
    const saved = state as unknown as { condition: { counted: { messages: number } } }
    const left = 4 - saved.condition.counted.messages
    expect((await second.run()).messages).toHaveLength(left)
  })
})
