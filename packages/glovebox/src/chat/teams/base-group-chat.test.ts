import { describe, expect, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import { GloveboxError, SingleThreadedAgentRuntime } from "../../core/index.ts"
import { TextMessage, ThoughtEvent, ToolOutputEvent, defineChatMessage, toText } from "../messages/index.ts"
import { ScriptedAgent, untilAborted } from "../scripted-agent.test-kit.ts"
import { type Participant, RoundRobinGroupChat } from "./index.ts"

const texts = (messages: readonly { readonly type: string }[]): string[] =>
  messages.map((message) => toText(message as never))

function roundRobin(participants: readonly Participant[], maxTurns = 4): RoundRobinGroupChat {
  return new RoundRobinGroupChat({ participants, maxTurns })
}

describe("a team's run", () => {
  it("streams what happens as it happens, and ends with the result", async () => {
    const chunk = ToolOutputEvent({ callId: "1", name: "t", content: "piece", source: "a" })
    const thought = ThoughtEvent({
      content: "hm",
      source: "a",
      modelsUsage: { promptTokens: 3, completionTokens: 2 },
    })
    const a = new ScriptedAgent("a", undefined, { events: () => [chunk, thought] })
    await using team = roundRobin([a], 1)
    const items = []
    for await (const item of team.runStream("hi")) items.push(item)
    expect(items.map(({ type }) => type)).toEqual([
      "TextMessage",
      "ToolOutputEvent",
      "ThoughtEvent",
      "TextMessage",
      "TaskResult",
    ])
    expect(items.at(-1)).toMatchObject({
      messages: [items[0], thought, items[3]],
      usage: { promptTokens: 3, completionTokens: 2 },
    })
  })

  it("leaves the task out where that is asked", async () => {
    await using team = roundRobin([new ScriptedAgent("a")], 1)
    const { messages } = await team.run("hi", { outputTaskMessages: false })
    expect(texts(messages)).toEqual(["a1"])
  })

  it("ends at once when its stream is left, and runs again", async () => {
    const began = gate()
    let reason: unknown
    const a = new ScriptedAgent("a", async ({ signal, turn }) => {
      if (turn > 1) return "again"
      signal.addEventListener("abort", () => {
        reason = signal.reason
      })
      return untilAborted(began.open)({ signal, heard: [], turn })
    })
    await using team = roundRobin([a], 1)
    for await (const item of team.runStream("hi")) {
      expect(toText(item as never)).toBe("hi")
      await began.promise
      break
    }
    expect(GloveboxError.is(reason, "RUN_LEFT")).toBe(true)
    expect(texts((await team.run()).messages)).toEqual(["again"])
    // What it did not answer is told again.
    expect(a.heard).toEqual([["hi"], ["hi"]])
  })

  it("rejects with the signal's reason in the middle of a turn, and runs again", async () => {
    const controller = new AbortController()
    const a = new ScriptedAgent("a", (context) =>
      context.turn > 1 ? "again" : untilAborted(() => controller.abort(new Error("enough")))(context),
    )
    await using team = roundRobin([a], 1)
    await expect(team.run("hi", { signal: controller.signal })).rejects.toThrow("enough")
    await expect(team.run("hi", { signal: controller.signal })).rejects.toThrow("enough")
    expect(texts((await team.run("next")).messages)).toEqual(["next", "again"])
    expect(a.heard).toEqual([["hi"], ["hi", "next"]])
  })

  it("waits for nobody who does not look at the signal", async () => {
    const controller = new AbortController()
    const hold = gate()
    const a = new ScriptedAgent("a", async ({ turn }) => {
      if (turn > 1) return "again"
      controller.abort(new Error("enough"))
      await hold.promise
      return "too late"
    })
    await using team = roundRobin([a], 1)
    await expect(team.run("hi", { signal: controller.signal })).rejects.toThrow("enough")
    const next = team.run()
    hold.open()
    expect(texts((await next).messages)).toEqual(["again"])
  })

  it("fails with an agent's error and its cause, and the next run works", async () => {
    const cause = new TypeError("no such thing")
    const a = new ScriptedAgent("a")
    const b = new ScriptedAgent("b", ({ turn }) => {
      if (turn === 1) throw cause
      return `b${turn}`
    })
    await using team = roundRobin([a, b], 2)
    await expect(team.run("hi")).rejects.toMatchObject({ code: "AGENT_FAILED", cause })
    expect(texts((await team.run()).messages)).toEqual(["b2", "a2"])
  })

  it("ends a turn that takes too long", async () => {
    const a = new ScriptedAgent("a", (context) =>
      context.turn > 1 ? "quick" : untilAborted(() => {})(context),
    )
    await using team = new RoundRobinGroupChat({ participants: [a], maxTurns: 1, turnTimeout: 5 })
    await expectFailure(team.run("hi"), "TURN_TIMEOUT", /^a did not end its turn within 5 ms/)
    expect(texts((await team.run()).messages)).toEqual(["quick"])
  })

  it("is one at a time", async () => {
    const began = gate()
    const hold = gate()
    const a = new ScriptedAgent("a", async () => {
      began.open()
      await hold.promise
      return "done"
    })
    await using team = roundRobin([a], 1)
    const first = team.run("hi")
    await began.promise
    await expectFailure(team.run("other"), "RUN_ACTIVE")
    await expectFailure(team.reset(), "RUN_ACTIVE")
    await expectFailure(team.loadState({}), "RUN_ACTIVE")
    hold.open()
    expect(texts((await first).messages)).toEqual(["hi", "done"])
  })

  it.each([
    [[], "TASK_INVALID"],
    [7, "TASK_INVALID"],
    [[TextMessage({ content: "x", source: "u" }), { type: "TextMessage" }], "TASK_INVALID"],
    [ThoughtEvent({ content: "x", source: "u" }), "TASK_INVALID"],
  ] as const)("refuses %j as a task", async (task, code) => {
    await using team = roundRobin([new ScriptedAgent("a")])
    await expectFailure(team.run(task as never), code)
  })

  it("ends when it is closed, and is closed for good", async () => {
    const began = gate()
    const team = roundRobin([new ScriptedAgent("a", untilAborted(began.open))])
    const run = team.run("hi")
    const failed = expectFailure(run, "RUN_LEFT", /was closed/)
    await began.promise
    await team.close()
    await team.close()
    await failed
    await expectFailure(team.run("hi"), "RUN_ACTIVE", /closed/)
  })
})

describe("a team that is paused", () => {
  it("ends the turn and begins no other until it is resumed", async () => {
    const [a, b] = [new ScriptedAgent("a"), new ScriptedAgent("b")]
    await using team = roundRobin([a, b], 3)
    const seen: string[] = []
    let atRest: unknown
    for await (const item of team.runStream("hi")) {
      if (item.type === "TaskResult") break
      seen.push(toText(item))
      if (seen.at(-1) === "a1") {
        await team.pause()
        // At rest now: a checkpoint needs no turn to end.
        atRest = await team.saveState()
        seen.push("resumed")
        await team.resume()
      }
    }
    expect(atRest).toMatchObject({ participants: { b: { turn: 0 } } })
    expect(seen).toEqual(["hi", "a1", "resumed", "b1", "a2"])
    expect(a.calls).toEqual(["pause", "resume"])
  })

  it("can be aborted", async () => {
    await using team = roundRobin([new ScriptedAgent("a")], 3)
    await team.pause()
    const controller = new AbortController()
    const run = team.run("hi", { signal: controller.signal })
    controller.abort(new Error("enough"))
    await expect(run).rejects.toThrow("enough")
    await team.resume()
    expect(texts((await team.run()).messages)).toEqual(["a1", "a2", "a3"])
  })
})

describe("a team's state", () => {
  it("moves to another team, which goes on where this one was", async () => {
    const first = roundRobin([new ScriptedAgent("a"), new ScriptedAgent("b")], 3)
    await first.run("hi")
    const state = JSON.parse(JSON.stringify(await first.saveState())) as never
    const b = new ScriptedAgent("b")
    await using second = roundRobin([new ScriptedAgent("a"), b], 2)
    await second.loadState(state)
    expect(await second.saveState()).toEqual(state)
    expect(texts((await second.run()).messages)).toEqual(["b2", "a3"])
    expect(b.heard).toEqual([["a2"]])
  })

  it("can be saved in the loop that reads the run, however much is told meanwhile", async () => {
    const chatter = Array.from({ length: 3000 }, () =>
      ToolOutputEvent({ callId: "1", name: "t", content: "x", source: "a" }),
    )
    const a = new ScriptedAgent("a", undefined, { events: () => chatter })
    await using team = roundRobin([a], 2)
    const states: unknown[] = []
    for await (const item of team.runStream("hi")) {
      if (item.type === "TextMessage") states.push(await team.saveState())
    }
    expect(states).toMatchObject([
      { participants: { a: { turn: expect.any(Number) } } },
      { turns: 1 },
      { turns: 2 },
    ])
  })

  it("is restored whole or not at all", async () => {
    const a = new ScriptedAgent("a")
    await using team = roundRobin([a, new ScriptedAgent("b")], 2)
    await team.run("hi")
    const state = await team.saveState()
    const bad = structuredClone(state) as { participants: Record<string, object> }
    bad.participants = { a: { turn: 7 }, b: { turn: "x" } }
    await expectFailure(team.loadState(bad as never), "STATE_INVALID", /b has no turn/)
    expect(await team.saveState()).toEqual(state)
  })

  it.each([
    [{}, /no state of a team/],
    [{ team: "Swarm" }, /state of a Swarm/],
    [{ participants: { a: {} } }, /the participants a, and the team has a, b/],
    [{ version: 2 }, /version/],
    [{ thread: [{ type: "Order" }] }, /customMessageTypes/],
  ])("is refused when it does not fit: %j", async (change, problem) => {
    await using team = roundRobin([new ScriptedAgent("a"), new ScriptedAgent("b")])
    const state = await team.saveState()
    const other = Object.keys(change).length === 0 ? {} : { ...state, ...change }
    await expectFailure(team.loadState(other), "STATE_INVALID", problem)
  })

  it("holds messages of one's own types", async () => {
    const Order = defineChatMessage("Order", { item: z.string() }, { toText: ({ item }) => `one ${item}` })
    const options = { maxTurns: 1, customMessageTypes: [Order] }
    const a = new ScriptedAgent("a", () => Order({ item: "tea", source: "a" }) as never)
    await using team = new RoundRobinGroupChat({ participants: [a], ...options })
    const { messages } = await team.run(Order({ item: "cup", source: "user" }))
    expect(texts(messages)).toEqual(["one cup", "one tea"])
    await using other = new RoundRobinGroupChat({ participants: [new ScriptedAgent("a")], ...options })
    await other.loadState(await team.saveState())
    expect(await other.saveState()).toEqual(await team.saveState())
  })
})

describe("a team in a team", () => {
  it("speaks as one, and all it says is told to the others", async () => {
    const inner = new RoundRobinGroupChat({
      name: "inner",
      participants: [new ScriptedAgent("a"), new ScriptedAgent("b")],
      maxTurns: 2,
    })
    const c = new ScriptedAgent("c")
    await using outer = roundRobin([inner, c], 3)
    const { messages } = await outer.run("hi")
    expect(texts(messages)).toEqual(["hi", "a1", "b1", "c1", "a2", "b2"])
    expect(c.heard).toEqual([["hi", "a1", "b1"]])
    const state = await outer.saveState()
    await outer.reset()
    await outer.loadState(state)
    expect(texts((await outer.run()).messages)).toEqual(["c2", "a3", "b3", "c3"])
  })

  it("is ended with the outer run", async () => {
    const controller = new AbortController()
    const a = new ScriptedAgent(
      "a",
      untilAborted(() => controller.abort(new Error("enough"))),
    )
    const inner = new RoundRobinGroupChat({ name: "inner", participants: [a] })
    await using outer = roundRobin([inner])
    await expect(outer.run("hi", { signal: controller.signal })).rejects.toThrow("enough")
    // It is free again.
    await inner.reset()
  })
})

describe("a team on a runtime that is given", () => {
  it("works as on its own, under the runtime's interventions, and leaves nothing behind", async () => {
    const seen: string[] = []
    await using runtime = new SingleThreadedAgentRuntime({
      interventions: [
        {
          onSend: (_message, { recipient }) => {
            seen.push(recipient.type.replace(/_.*/, ""))
            return { action: "allow" }
          },
        },
      ],
    })
    runtime.start()
    const team = new RoundRobinGroupChat({
      participants: [new ScriptedAgent("a"), new ScriptedAgent("b")],
      maxTurns: 2,
      runtime,
    })
    expect(texts((await team.run("hi")).messages)).toEqual(["hi", "a1", "b1"])
    expect(new Set(seen)).toEqual(new Set(["manager", "output", "participant.a", "participant.b"]))
    await team.close()
    expect(await runtime.saveState()).toMatchObject({ agents: {} })
    await runtime.stopWhenIdle()
  })

  it("fails when the runtime refuses a turn", async () => {
    await using runtime = new SingleThreadedAgentRuntime({
      interventions: [
        {
          onSend: (_message, { recipient }) =>
            recipient.type.startsWith("participant.b")
              ? { action: "reject", reason: "b may not" }
              : { action: "allow" },
        },
      ],
    })
    runtime.start()
    const participants = [new ScriptedAgent("a"), new ScriptedAgent("b")]
    await using team = new RoundRobinGroupChat({ participants, maxTurns: 2, runtime })
    await expectFailure(team.run("hi"), "AGENT_FAILED", /b may not/)
  })
})

describe("a team", () => {
  it.each([
    [{ participants: [] }, /needs at least 1/],
    [{ participants: [new ScriptedAgent("a"), new ScriptedAgent("a")] }, /two participants called a/],
    [{ participants: [{}] }, /no agent and no team/],
    [{ participants: new ScriptedAgent("a") }, /not a list/],
    [{ participants: [new ScriptedAgent("a")], max_turns: 3 }, /did you mean maxTurns/],
    [{ participants: [new ScriptedAgent("a")], maxTurns: 0 }, /maxTurns/],
    [{ participants: [new ScriptedAgent("a")], turnTimeout: "soon" }, /turnTimeout/],
  ])("cannot be made of %#", (options, problem) => {
    expect(() => new RoundRobinGroupChat(options as never)).toThrow(problem)
  })
})
