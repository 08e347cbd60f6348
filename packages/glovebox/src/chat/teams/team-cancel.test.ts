import { describe, expect, it } from "vitest"
import { z } from "zod"
import { gate } from "../../core/gate.test-kit.ts"
import type { JsonObject } from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { ReplayChatCompletionClient } from "../../models/replay/index.ts"
import { call, openCalls, toolThat } from "../agents/assistant/assistant.test-kit.ts"
import { AssistantAgent } from "../agents/index.ts"
import { FunctionalTermination, MaxMessageTermination, TimeoutTermination } from "../conditions/index.ts"
import { TextMessage, ThoughtEvent, ToolOutputEvent, toText } from "../messages/index.ts"
import { ScriptedAgent, untilAborted } from "../scripted-agent.test-kit.ts"
import { BaseGroupChat, type Floor, RoundRobinGroupChat, type SpeakerPolicy } from "./index.ts"
import { teamOptionsShape } from "./team-options.ts"

const texts = (messages: readonly { readonly type: string }[]): string[] =>
  messages.map((message) => toText(message as never))

// As many as a reader may leave unread, before who tells it waits.
const PIECES = 1023

const USAGE = { promptTokens: 3, completionTokens: 2 }

/** A team with a policy of the test's own. */
class OwnTeam extends BaseGroupChat {
  constructor(participants: readonly ScriptedAgent[], policy: Partial<SpeakerPolicy>) {
    const read = readOptions("OwnTeam", z.strictObject(teamOptionsShape), { participants, maxTurns: 2 })
    super(participants, read, {
      next: () => ({ speakers: ["a"] }),
      reset: () => {},
      saveState: () => ({}),
      loadState: () => {},
      ...policy,
    })
  }

  override toComponent(): never {
    throw new Error("not needed")
  }
}

describe("a run that is cancelled", () => {
  it("does not wait for a condition, nor hears from it in the next run", async () => {
    const asked = gate()
    const hold = gate()
    const held = new FunctionalTermination(async () => {
      asked.open()
      await hold.promise
      return true
    })
    await using team = new RoundRobinGroupChat({
      participants: [new ScriptedAgent("a")],
      terminationCondition: held.or(new MaxMessageTermination(2)),
    })
    const controller = new AbortController()
    const run = team.run("hi", { signal: controller.signal })
    await asked.promise
    controller.abort(new Error("enough"))
    await expect(run).rejects.toThrow("enough")
    const before = (await team.saveState()) as { condition: JsonObject }
    expect(before.condition).toMatchObject({ terminated: null })
    hold.open()
    expect((await team.run("next")).stopKind).toBe("condition")
  })

  it.each(["begin", "next", "finished"] as const)("does not wait for a policy's %s", async (method) => {
    const asked = gate()
    let hangs = true
    const own: SpeakerPolicy = {
      next: () => ({ speakers: ["a"] }),
      reset: () => {},
      saveState: () => ({}),
      loadState: () => {},
    }
    const policy: Partial<SpeakerPolicy> = {
      ...own,
      [method]: async () => {
        if (!hangs) return { speakers: ["a"] }
        asked.open()
        return new Promise(() => {})
      },
    }
    await using team = new OwnTeam([new ScriptedAgent("a")], policy)
    const controller = new AbortController()
    const run = team.run("hi", { signal: controller.signal })
    await asked.promise
    controller.abort(new Error("enough"))
    await expect(run).rejects.toThrow("enough")
    hangs = false
    expect((await team.run("next")).stopKind).toBe("max-turns")
  })

  it("is not added to by a policy that comes back late", async () => {
    const asked = gate()
    const hold = gate()
    const late: unknown[] = []
    const says = async (floor: Floor): Promise<never> => {
      asked.open()
      await hold.promise
      const message = TextMessage({ content: "late", source: "team" })
      const event = ThoughtEvent({ content: "late", source: "team" })
      for (const act of [() => floor.say(message), () => floor.emit(event), () => floor.startOver()]) {
        await act().catch((error: unknown) => late.push(error))
      }
      throw new Error("unheard")
    }
    await using team = new OwnTeam([new ScriptedAgent("a")], { next: says })
    const controller = new AbortController()
    const run = team.run("hi", { signal: controller.signal })
    await asked.promise
    const reason = new Error("enough")
    controller.abort(reason)
    await expect(run).rejects.toBe(reason)
    const state = await team.saveState()
    hold.open()
    await expect.poll(() => late).toEqual([reason, reason, reason])
    expect(await team.saveState()).toEqual(state)
  })

  it("gives its reader nothing more", async () => {
    const chatter = Array.from({ length: 50 }, () =>
      ToolOutputEvent({ callId: "1", name: "t", content: "x", source: "a" }),
    )
    await using team = new RoundRobinGroupChat({
      participants: [new ScriptedAgent("a", undefined, { events: () => chatter })],
      maxTurns: 1,
    })
    const controller = new AbortController()
    let read = 0
    const reading = async (): Promise<void> => {
      for await (const _item of team.runStream("hi", { signal: controller.signal })) {
        read += 1
        await new Promise((resolve) => {
          setImmediate(resolve)
        })
        controller.abort(new Error("enough"))
      }
    }
    await expect(reading()).rejects.toThrow("enough")
    expect(read).toBe(1)
  })

  it("tells an agent nothing twice, also when its answer was on the way", async () => {
    const modelClient = new ReplayChatCompletionClient([`${"a ".repeat(PIECES - 1)}end`, "again"])
    const agent = new AssistantAgent({ name: "a", modelClient, modelClientStream: true })
    const make = (participant: AssistantAgent): RoundRobinGroupChat =>
      new RoundRobinGroupChat({ participants: [participant], maxTurns: 1 })
    await using team = make(agent)
    const stream = team.runStream("hi")
    await stream.next()
    // Its answer waits for a reader with no room for more.
    await expect
      .poll(async () => (await agent.modelContext.getMessages()).map(({ type }) => type))
      .toEqual(["UserMessage", "AssistantMessage"])
    await stream.return(undefined as never)
    const state = await team.saveState()
    expect(state).toMatchObject({ unheard: ["a"] })

    const other = new AssistantAgent({ name: "a", modelClient })
    await using loaded = make(other)
    await loaded.loadState(state)
    await team.run()
    await loaded.run().catch(() => {})
    for (const each of [agent, other]) {
      const messages = await each.modelContext.getMessages()
      expect(messages.filter(({ type }) => type === "UserMessage")).toHaveLength(1)
    }
  })

  it("does not make an agent deaf to a task that is given again", async () => {
    const task = TextMessage({ content: "task", source: "user" })
    const modelClient = new ReplayChatCompletionClient(["yes"], { repeat: true })
    const agent = new AssistantAgent({ name: "a", modelClient })
    await using team = new RoundRobinGroupChat({ participants: [agent], maxTurns: 1 })
    await team.run(task)
    await team.run(task)
    const kept = await agent.modelContext.getMessages()
    expect(kept.filter(({ type }) => type === "UserMessage")).toHaveLength(2)
  })

  it("has cleared up when it is over", async () => {
    const began = gate()
    const modelClient = new ReplayChatCompletionClient([
      { content: [call("slow")], usage: USAGE, finishReason: "function_calls", cached: false },
    ])
    const tools = [
      toolThat("slow", async (signal) => {
        began.open()
        return untilAborted(() => {})({ signal, heard: [], turn: 1 })
      }),
    ]
    const agent = new AssistantAgent({ name: "a", modelClient, tools })
    await using team = new RoundRobinGroupChat({ participants: [agent], maxTurns: 1 })
    const controller = new AbortController()
    const run = team.run("hi", { signal: controller.signal })
    await began.promise
    controller.abort(new Error("enough"))
    await expect(run).rejects.toThrow("enough")
    const messages = await agent.modelContext.getMessages()
    expect(messages.at(-1)?.type).toBe("FunctionExecutionResultMessage")
    expect(openCalls(messages)).toEqual([])
  })
})

describe("the usage of a run", () => {
  it("has all that its messages tell of, also those of a turn that was cut off", async () => {
    const a = new ScriptedAgent(
      "a",
      untilAborted(() => {}),
      { events: () => [ThoughtEvent({ content: "hm", source: "a", modelsUsage: USAGE })] },
    )
    await using team = new RoundRobinGroupChat({
      participants: [a],
      terminationCondition: new TimeoutTermination(20),
    })
    const { messages, usage } = await team.run("hi")
    expect(texts(messages)).toEqual(["hi", "hm"])
    expect(usage).toEqual(USAGE)
  })

  it("has nothing of what led to its task", async () => {
    const task = TextMessage({ content: "hi", source: "other", modelsUsage: USAGE })
    await using team = new RoundRobinGroupChat({ participants: [new ScriptedAgent("a")], maxTurns: 1 })
    expect((await team.run(task)).usage).toEqual({ promptTokens: 0, completionTokens: 0 })
    expect((await new ScriptedAgent("b").run(task)).usage).toEqual({ promptTokens: 0, completionTokens: 0 })
  })
})
