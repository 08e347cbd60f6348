import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { ComponentRegistry, type JsonObject } from "../../core/index.ts"
import { memoryComponents } from "../../memory/index.ts"
import type { LLMMessage } from "../../models/index.ts"
import { type ReplayResponse, ReplayChatCompletionClient } from "../../models/replay/index.ts"
import { tool } from "../../tools/index.ts"
import { AssistantAgent } from "../agents/assistant/index.ts"
import { HandoffTermination, MaxMessageTermination, conditionComponents } from "../conditions/index.ts"
import { type ChatMessage, HandoffMessage, TextMessage, toText } from "../messages/index.ts"
import { ScriptedAgent, type Step, untilAborted } from "../scripted-agent.test-kit.ts"
import { RoundRobinGroupChat, Swarm } from "./index.ts"

const CONTEXT: readonly LLMMessage[] = [{ type: "UserMessage", content: "looked it up", source: "a" }]

/** An agent that says one thing each turn; ">b" hands off to b. */
function agent(name: string, ...words: readonly string[]): ScriptedAgent {
  const step: Step = ({ turn }) => said(name, words[turn - 1] ?? `${name}${turn}`)
  return new ScriptedAgent(name, step, { producedMessageTypes: ["TextMessage", "HandoffMessage"] })
}

function said(source: string, word: string): ChatMessage {
  return word.startsWith(">")
    ? HandoffMessage({ content: word, target: word.slice(1), source, context: CONTEXT })
    : TextMessage({ content: word, source })
}

const handOff = (target: string): HandoffMessage =>
  HandoffMessage({ content: `to ${target}`, target, source: "user" })

const lines = ({ messages }: { readonly messages: readonly ChatMessage[] | readonly object[] }): string[] =>
  (messages as readonly ChatMessage[]).map((message) => `${message.source}: ${toText(message)}`)

describe("Swarm", () => {
  it("begins with the first, who keeps the word until it is passed on", async () => {
    await using team = new Swarm({
      participants: [agent("a", "thinking", ">c"), agent("b"), agent("c", "c1", ">b")],
      maxTurns: 6,
    })
    expect(lines(await team.run("hello"))).toEqual([
      "user: hello",
      "a: thinking",
      "a: >c",
      "c: c1",
      "c: >b",
      "b: b1",
      "b: b2",
    ])
  })

  it("goes on in the next run with who had the word", async () => {
    await using team = new Swarm({ participants: [agent("a", ">b"), agent("b")], maxTurns: 2 })
    await team.run("hello")
    expect(lines(await team.run("more"))).toEqual(["user: more", "b: b2", "b: b3"])
  })

  it("begins where the task hands off to, the last of several", async () => {
    await using team = new Swarm({ participants: [agent("a"), agent("b"), agent("c")], maxTurns: 1 })
    expect(lines(await team.run([handOff("c"), handOff("b")])).at(-1)).toBe("b: b1")
  })

  it("waits for the user, and goes on with the user's handoff", async () => {
    const a = agent("a", ">b")
    await using team = new Swarm({
      participants: [a, agent("b", ">user", "b2", ">user")],
      terminationCondition: new HandoffTermination("user"),
    })
    const asked = await team.run("hello")
    expect(lines(asked).at(-1)).toBe("b: >user")
    expect(asked).toMatchObject({ stopKind: "condition", stopReason: "b handed off to user." })
    const goOn = /b handed off to user, who is not in Swarm.*HandoffMessage\(.*one of a, b\./
    await expectFailure(team.run("here"), "SPEAKER_INVALID", goOn)
    await expectFailure(team.run(), "SPEAKER_INVALID", goOn)
    expect(lines(await team.run(handOff("b")))).toEqual(["user: to b", "b: b2", "b: >user"])
    // What was refused was not said either.
    expect((await team.saveState())["thread"]).toHaveLength(6)
  })

  it("refuses a task that hands off to a stranger, and nothing changes", async () => {
    await using team = new Swarm({ participants: [agent("a"), agent("b")], maxTurns: 1 })
    await expectFailure(team.run(handOff("nobody")), "TASK_INVALID", /hands off to nobody, .* one of a, b\./)
    expect(lines(await team.run("hello"))).toEqual(["user: hello", "a: a1"])
  })

  it("fails when the word is passed to a stranger, and can go on after that", async () => {
    await using team = new Swarm({
      name: "Desk",
      participants: [agent("a", ">boss"), agent("b")],
      maxTurns: 2,
    })
    await expectFailure(
      team.run("hello"),
      "SPEAKER_INVALID",
      /^a handed off to boss, who is not in Desk\. In it: a, b\..*new HandoffTermination\("boss"\)/,
    )
    expect(lines(await team.run(handOff("b")))).toEqual(["user: to b", "b: b1", "b: b2"])
  })

  it("lets a condition end the run before a handoff to a stranger fails it", async () => {
    await using team = new Swarm({
      participants: [agent("a", ">boss")],
      terminationCondition: new MaxMessageTermination(2),
    })
    expect((await team.run("hello")).stopKind).toBe("condition")
  })

  it("gives the word to the same one again whose turn was aborted", async () => {
    let isStuck = true
    const controller = new AbortController()
    const b = new ScriptedAgent("b", (context) => {
      if (!isStuck) return "b is back"
      return untilAborted(() => controller.abort(new Error("enough")))(context)
    })
    await using team = new Swarm({ participants: [agent("a", ">b"), b], maxTurns: 2 })
    await expect(team.run("hello", { signal: controller.signal })).rejects.toThrow("enough")
    isStuck = false
    expect(lines(await team.run())[0]).toBe("b: b is back")
    expect(b.heard.slice(0, 2)).toEqual([
      ["hello", ">b"],
      ["hello", ">b"],
    ])
  })

  it("keeps who has the word in its state, and forgets it by a reset", async () => {
    const make = (): Swarm =>
      new Swarm({ participants: [agent("a", ">b"), agent("b", "b1", ">user")], maxTurns: 1 })
    await using first = make()
    await first.run("hello")
    await using second = make()
    await second.loadState(JSON.parse(JSON.stringify(await first.saveState())) as JsonObject)
    expect(lines(await second.run())).toEqual(["b: b1"])
    await second.run()
    await using third = make()
    await third.loadState(await second.saveState())
    await expectFailure(third.run("more"), "SPEAKER_INVALID", /b handed off to user/)
    await third.reset()
    expect(lines(await third.run("hello"))).toEqual(["user: hello", "a: >b"])
    await expectFailure(
      third.loadState({ ...(await first.saveState()), policy: { handoff: "b" } }),
      "STATE_INVALID",
      /no state of a swarm/,
    )
  })
})

describe("what was said to a model about a handoff", () => {
  it.each(["Swarm", "RoundRobinGroupChat"])("is told to its target alone, in a %s", async (kind) => {
    const heard: Record<string, readonly ChatMessage[]> = {}
    const listener = (name: string, word: string): ScriptedAgent =>
      new ScriptedAgent(name, (context) => {
        heard[name] = context.heard
        return said(name, word)
      })
    const participants = [agent("a", ">b"), listener("b", ">c"), listener("c", "c1")]
    await using team =
      kind === "Swarm"
        ? new Swarm({ participants, maxTurns: 3 })
        : new RoundRobinGroupChat({ participants, maxTurns: 3 })
    const { messages } = await team.run("hello")
    expect(heard["b"]?.at(-1)).toMatchObject({ content: ">b", context: CONTEXT })
    const [told] = heard["c"]?.filter(({ type }) => type === "HandoffMessage") ?? []
    expect(told).toMatchObject({ content: ">b", target: "b", source: "a", context: [] })
    // The same message otherwise, and whole in the result.
    expect(told?.id).toBe(messages[1]?.id)
    expect(messages[1]).toMatchObject({ context: CONTEXT })
    expect(heard["c"]?.at(-1)).toMatchObject({ content: ">c", context: CONTEXT })
  })
})

describe("a Swarm of assistants", () => {
  const call = (id: string, name: string): ReplayResponse => [{ id, name, arguments: "{}" }]
  const assistant = (
    name: string,
    answers: readonly ReplayResponse[],
    options: Partial<ConstructorParameters<typeof AssistantAgent>[0]> = {},
  ): AssistantAgent =>
    new AssistantAgent({ name, modelClient: new ReplayChatCompletionClient(answers), ...options })

  it("hands off by calls of a model, with what its tools found", async () => {
    const modelClient = new ReplayChatCompletionClient(["It rains."])
    const look = tool({ name: "look", description: "Looks out.", execute: () => "clouds" })
    await using team = new Swarm({
      participants: [
        assistant(
          "a",
          [
            [
              { id: "1", name: "look", arguments: "{}" },
              { id: "2", name: "transfer_to_b", arguments: "{}" },
            ],
          ],
          { handoffs: ["b"], tools: [look] },
        ),
        assistant("b", [], { modelClient, handoffs: ["a"] }),
      ],
      maxTurns: 2,
    })
    const { messages } = await team.run("How is the weather?")
    expect(messages.at(-1)).toMatchObject({ source: "b", content: "It rains." })
    expect(JSON.stringify(modelClient.createCalls[0]?.messages)).toContain("clouds")
  })

  it("is made again from its data", async () => {
    const registry = new ComponentRegistry([
      Swarm.definition,
      AssistantAgent.definition,
      ReplayChatCompletionClient.definition,
      ...conditionComponents,
      ...memoryComponents,
    ])
    await using team = new Swarm({
      participants: [
        assistant("a", [call("1", "transfer_to_b")], { handoffs: ["b"] }),
        assistant("b", [call("1", "transfer_to_user")], { handoffs: ["user"] }),
      ],
      terminationCondition: new HandoffTermination("user"),
    })
    const data = JSON.parse(JSON.stringify(team.toComponent())) as JsonObject
    expect(data).toMatchObject({ provider: "glovebox.teams.Swarm", component_type: "team" })
    await using again = registry.load({ ...data, provider: "autogen_agentchat.teams.Swarm" }, Swarm)
    expect(again.toComponent()).toEqual(data)
    expect((await again.run("hello")).stopReason).toBe("b handed off to user.")
  })
})

describe("the options of a Swarm", () => {
  it("want agents, the first of whom can hand off", () => {
    const mute = new ScriptedAgent("mute")
    expect(failureOf(() => new Swarm({ participants: [mute, agent("a")] }))).toMatch(
      /^TEAM_INVALID: mute begins in Swarm and cannot hand off/,
    )
    const inner = new RoundRobinGroupChat({ name: "inner", participants: [agent("x")] })
    expect(failureOf(() => new Swarm({ participants: [agent("a"), inner as never] }))).toMatch(
      /^TEAM_INVALID: inner is a team, and Swarm takes agents only/,
    )
    expect(failureOf(() => new Swarm({ participants: [] }))).toMatch(/^TEAM_INVALID: Swarm has 0/)
    expect(failureOf(() => new Swarm({ participants: [agent("a")], max_turns: 3 } as never))).toMatch(
      /^OPTION_INVALID: .*did you mean maxTurns\?/,
    )
  })
})
