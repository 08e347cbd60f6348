import { describe, expect, it } from "vitest"
import { ComponentRegistry, defineComponent } from "../../../core/index.ts"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { gate } from "../../../core/gate.test-kit.ts"
import type { LLMMessage } from "../../../models/index.ts"
import { ReplayChatCompletionClient, type ReplayResponse } from "../../../models/replay/index.ts"
import { z } from "zod"
import { MultiModalMessage, toText } from "../../messages/index.ts"
import { ScriptedAgent, untilAborted } from "../../scripted-agent.test-kit.ts"
import { type TaskResult, sumUsage } from "../../task/index.ts"
import { MagenticOneGroupChat, RoundRobinGroupChat } from "../index.ts"
import { SATISFIED, ledgerText } from "./ledger.test-kit.ts"

const LEADER = "MagenticOneOrchestrator"
const PIXEL = { type: "Image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const

function client(...responses: readonly ReplayResponse[]): ReplayChatCompletionClient {
  return new ReplayChatCompletionClient(["the facts", "the plan", ...responses])
}

function lines({ messages }: TaskResult): string[] {
  return messages.map((message) => `${message.source}: ${toText(message).split("\n").at(-1)}`)
}

function lastPrompt(call: { readonly messages: readonly LLMMessage[] } | undefined): string {
  const content = call?.messages.at(-1)?.content
  return typeof content === "string" ? content : ""
}

describe("MagenticOneGroupChat", () => {
  it("plans, gives each agent its part, and writes the answer", async () => {
    const [a, b] = [new ScriptedAgent("a"), new ScriptedAgent("b")]
    const modelClient = client(
      ledgerText({ next: "b", instruction: "Look it up." }),
      ledgerText({ next: "a", instruction: "Check it." }),
      SATISFIED,
      "It is 42.",
    )
    await using team = new MagenticOneGroupChat({ participants: [a, b], modelClient })
    const result = await team.run("What is it?")
    expect(lines(result)).toEqual([
      "user: What is it?",
      `${LEADER}: the plan`,
      `${LEADER}: Look it up.`,
      "b: b1",
      `${LEADER}: Check it.`,
      "a: a1",
      `${LEADER}: It is 42.`,
    ])
    expect(result).toMatchObject({ stopKind: "completed", stopReason: "because true" })
    expect(b.heard).toEqual([["What is it?", expect.stringContaining("the facts"), "Look it up."]])
    expect(a.heard[0]?.slice(2)).toEqual(["Look it up.", "b1", "Check it."])
  })

  it("tells its model the request, the team and the conversation", async () => {
    const modelClient = client(ledgerText({ next: "a" }), SATISFIED, "done")
    await using team = new MagenticOneGroupChat({
      participants: [new ScriptedAgent("a"), new ScriptedAgent("b")],
      modelClient,
    })
    await team.run("What is it?")
    const [facts, plan, , progress] = modelClient.createCalls
    expect(facts?.messages[0]?.content).toMatch(/a: a of the test\.\nb: b of the test\.[^]*What is it\?/)
    expect(plan?.messages.at(-2)).toMatchObject({ type: "AssistantMessage", content: "the facts" })
    expect(progress?.messages.slice(1, -1)).toMatchObject([
      { type: "UserMessage", content: "What is it?", source: "user" },
      { type: "AssistantMessage" },
      { type: "AssistantMessage", content: "Go on." },
      { type: "UserMessage", content: "a1", source: "a" },
    ])
  })

  it("counts each of its model calls once, in its own messages", async () => {
    const modelClient = client("not yet", ledgerText({ next: "a" }), SATISFIED, "done")
    await using team = new MagenticOneGroupChat({
      participants: [new ScriptedAgent("a"), new ScriptedAgent("b")],
      modelClient,
      emitTeamEvents: true,
    })
    const { usage, messages } = await team.run("task")
    expect(usage).toEqual(modelClient.actualUsage())
    expect(sumUsage(messages)).toEqual(usage)
    expect(messages.filter(({ type }) => type === "SelectorEvent")).toHaveLength(2)
  })

  it("asks for the ledger as the model can give it", async () => {
    const info = { vision: false, functionCalling: false, family: "unknown", multipleSystemMessages: false }
    const asked: unknown[] = []
    for (const [structuredOutput, jsonOutput] of [
      [true, true],
      [false, true],
      [false, false],
    ] as const) {
      const modelClient = new ReplayChatCompletionClient(
        ["facts", "plan", `Well:\n\`\`\`json\n${SATISFIED}\n\`\`\`\nThat is all.`, "done"],
        { modelInfo: { ...info, structuredOutput, jsonOutput } },
      )
      await using team = new MagenticOneGroupChat({ participants: [new ScriptedAgent("a")], modelClient })
      await team.run("task")
      asked.push(modelClient.createCalls[2]?.options.jsonOutput)
    }
    expect(asked).toEqual([expect.objectContaining({ "~standard": expect.anything() }), true, false])
  })

  it.each<[string, string, RegExp]>([
    ["no JSON", "I think a should go on.", /no JSON object/],
    ["JSON with an error", `${ledgerText({ next: "a" }).slice(0, -1)},}`, /JSON/],
    ["a ledger cut off", ledgerText({ next: "a" }).slice(0, -5), /no end/],
    ["missing keys", '{"satisfied":{"reason":"","answer":false}}', /looping[^]*nextSpeaker/],
    ["several ledgers", ledgerText({ next: "a" }) + ledgerText({ next: "b" }), /2 ledgers/],
    ["somebody who is not in the team", ledgerText({ next: "zoe" }), /nextSpeaker[^]*"a"[^]*"b"/],
    ["nobody", ledgerText(), /nextSpeaker/],
    ["nothing", "", /no JSON object/],
  ])("asks again when it gets %s, and says what is wrong", async (_, answer, problem) => {
    const modelClient = client(answer, ledgerText({ next: "b" }), SATISFIED, "done")
    await using team = new MagenticOneGroupChat({
      participants: [new ScriptedAgent("a"), new ScriptedAgent("b")],
      modelClient,
    })
    expect(lines(await team.run("task"))).toContain("b: b1")
    expect(lastPrompt(modelClient.createCalls[3])).toMatch(problem)
  })

  it("gives up after some attempts, and goes on in the next run", async () => {
    const modelClient = client(...Array.from({ length: 5 }, () => "{}"), SATISFIED, "done")
    await using team = new MagenticOneGroupChat({ participants: [new ScriptedAgent("a")], modelClient })
    await expectFailure(team.run("task"), "OUTPUT_INVALID", /no progress ledger in 5 attempts: .*satisfied/)
    expect(lines(await team.run())).toEqual([`${LEADER}: done`])
  })

  it("gives the word exactly maxTurns times in each run, and then answers", async () => {
    const go = ledgerText({ next: "a" })
    const modelClient = client(go, go, "as far as it came", go, go, "a little further")
    const a = new ScriptedAgent("a")
    await using team = new MagenticOneGroupChat({
      participants: [a, new ScriptedAgent("b")],
      modelClient,
      maxTurns: 2,
    })
    const first = await team.run("task")
    expect(first).toMatchObject({ stopKind: "max-turns", stopReason: "The team had its 2 turns." })
    expect(lines(first).at(-1)).toBe(`${LEADER}: as far as it came`)
    expect(a.heard).toHaveLength(2)
    expect((await team.run()).stopKind).toBe("max-turns")
    expect(a.heard).toHaveLength(4)
  })

  it("refuses a first run without a task, and goes on without one later", async () => {
    const modelClient = client(SATISFIED, "done", SATISFIED, "done again")
    await using team = new MagenticOneGroupChat({ participants: [new ScriptedAgent("a")], modelClient })
    await expectFailure(team.run(), "TASK_INVALID", /no task to go on with/)
    await team.run("task")
    expect(lines(await team.run())).toEqual([`${LEADER}: done again`])
    await team.reset()
    await expectFailure(team.run(), "TASK_INVALID")
  })

  it("plans anew for another task, and still knows the conversation", async () => {
    const modelClient = client(
      ledgerText(),
      SATISFIED,
      "first",
      "other facts",
      "other plan",
      SATISFIED,
      "second",
    )
    const a = new ScriptedAgent("a")
    await using team = new MagenticOneGroupChat({ participants: [a], modelClient })
    await team.run("one")
    expect(lines(await team.run("two", { outputTaskMessages: false }))).toEqual([
      `${LEADER}: other plan`,
      `${LEADER}: second`,
    ])
    expect(a.calls).toEqual([])
    expect(modelClient.createCalls[5]?.messages.map(({ content }) => content)).toContain("a1")
  })

  it("makes another plan when the team is stuck, and begins anew with it", async () => {
    const stuck = ledgerText({ progressing: false, next: "a" })
    const loops = ledgerText({ looping: true, next: "a" })
    const modelClient = client(
      stuck,
      stuck,
      loops,
      "new facts",
      "new plan",
      ledgerText({ next: "b" }),
      SATISFIED,
      "done",
    )
    const [a, b] = [new ScriptedAgent("a"), new ScriptedAgent("b")]
    await using team = new MagenticOneGroupChat({ participants: [a, b], modelClient, maxStalls: 2 })
    const result = await team.run(MultiModalMessage({ content: ["What is on it?", PIXEL], source: "user" }))
    expect(lines(result).slice(1)).toEqual([
      `${LEADER}: the plan`,
      `${LEADER}: Go on.`,
      "a: a1",
      `${LEADER}: Go on.`,
      "a: a2",
      `${LEADER}: new plan`,
      `${LEADER}: Go on.`,
      "b: b1",
      `${LEADER}: done`,
    ])
    expect([a.calls, b.calls]).toEqual([["reset"], ["reset"]])
    // Who forgot everything is told the request again, with its image.
    expect(result.messages[6]).toMatchObject({
      type: "MultiModalMessage",
      content: [expect.any(String), "What is on it?", PIXEL, expect.stringContaining("new facts")],
    })
    expect(b.heard).toEqual([[expect.stringContaining("What is on it?"), "Go on."]])
    expect(result.usage).toEqual(modelClient.actualUsage())
  })

  it("tries each plan at least once, however hopeless its model is", async () => {
    const stuck = ledgerText({ progressing: false })
    const modelClient = client(
      stuck,
      stuck,
      "facts 2",
      "plan 2",
      stuck,
      stuck,
      "facts 3",
      "plan 3",
      stuck,
      "the end",
    )
    const a = new ScriptedAgent("a")
    await using team = new MagenticOneGroupChat({ participants: [a], modelClient, maxStalls: 1, maxTurns: 3 })
    expect(await team.run("task")).toMatchObject({ stopKind: "max-turns" })
    expect(a.calls).toEqual(["reset", "reset"])
    expect(a.heard).toHaveLength(3)
  })

  it("does not choose in a team of one", async () => {
    const modelClient = client(ledgerText(), ledgerText({ next: "zoe" }), SATISFIED, "done")
    const a = new ScriptedAgent("a")
    await using team = new MagenticOneGroupChat({ participants: [a], modelClient })
    await team.run("task")
    expect(a.heard).toHaveLength(2)
    expect(lastPrompt(modelClient.createCalls[2])).not.toContain("nextSpeaker")
  })

  it("asks for the answer in the words it is given", async () => {
    const modelClient = client(SATISFIED, "done")
    await using team = new MagenticOneGroupChat({
      participants: [new ScriptedAgent("a")],
      modelClient,
      finalAnswerPrompt: 'Answer "{task}" in {one} word.',
    })
    await team.run("task")
    expect(lastPrompt(modelClient.createCalls.at(-1))).toBe('Answer "task" in {one} word.')
  })

  it.each([
    ["its first plan", 0],
    ["a ledger", 2],
    ["the answer", 3],
  ])("ends at once when it is aborted at %s, and can go on", async (_, at) => {
    const asked = gate()
    const answers: ReplayResponse[] = ["the facts", "the plan", SATISFIED]
    const hangs: ReplayResponse = async () => {
      asked.open()
      return new Promise(() => {})
    }
    const modelClient = new ReplayChatCompletionClient([
      ...answers.slice(0, at),
      hangs,
      ...(at === 0 ? answers : answers.slice(2)),
      "done",
    ])
    await using team = new MagenticOneGroupChat({ participants: [new ScriptedAgent("a")], modelClient })
    const controller = new AbortController()
    const run = team.run("task", { signal: controller.signal })
    await asked.promise
    const { signal } = modelClient.createCalls.at(-1)?.options ?? {}
    controller.abort(new Error("enough"))
    await expect(run).rejects.toThrow("enough")
    expect(signal?.aborted).toBe(true)
    expect(lines(await team.run()).at(-1)).toBe(`${LEADER}: done`)
  })

  it("goes on after an agent's turn was aborted, and gives it the same word again", async () => {
    const began = gate()
    const go = ledgerText()
    const modelClient = client(go, go, SATISFIED, "done")
    let isFirst = true
    const a = new ScriptedAgent("a", (context) => {
      if (!isFirst) return "a done"
      isFirst = false
      return untilAborted(began.open)(context)
    })
    await using team = new MagenticOneGroupChat({ participants: [a], modelClient })
    const controller = new AbortController()
    const run = team.run("task", { signal: controller.signal })
    await began.promise
    controller.abort(new Error("enough"))
    await expect(run).rejects.toThrow("enough")
    expect(lines(await team.run())).toEqual([`${LEADER}: Go on.`, "a: a done", `${LEADER}: done`])
    expect(a.heard[1]?.slice(0, a.heard[0]?.length)).toEqual(a.heard[0])
  })

  it("saves where it is in the middle of a run, and another goes on from there", async () => {
    const go = ledgerText({ progressing: false })
    const make = (...responses: string[]): MagenticOneGroupChat =>
      new MagenticOneGroupChat({
        participants: [new ScriptedAgent("a")],
        modelClient: new ReplayChatCompletionClient(responses),
        maxTurns: 3,
        maxStalls: 2,
      })
    await using team = make("facts", "plan", go, go, go)
    let state
    for await (const item of team.runStream("task")) {
      if (item.type === "TextMessage" && item.source === "a") {
        state = await team.saveState()
        break
      }
    }
    const saved = JSON.parse(JSON.stringify(state ?? null))
    expect(saved.policy).toMatchObject({ task: ["task"], plan: { facts: "facts", steps: "plan" }, rounds: 1 })
    await using other = make(go, go, "new facts", "new plan", go, "the end")
    await other.loadState(saved)
    expect(await other.saveState()).toEqual(saved)
    const result = await other.run()
    // One turn was had before, so there are two more.
    expect(result.messages.filter(({ source }) => source === "a")).toHaveLength(2)
    expect(result).toMatchObject({ stopKind: "max-turns" })
    await expectFailure(other.loadState({ ...saved, policy: { task: 1 } }), "STATE_INVALID")
  })

  it("takes agents only, and none with its leader's name", () => {
    const modelClient = client()
    const inner = new RoundRobinGroupChat({ participants: [new ScriptedAgent("a")], name: "inner" })
    const make = (participants: readonly unknown[]): string =>
      failureOf(() => new MagenticOneGroupChat({ participants: participants as never, modelClient }))
    expect(make([inner])).toMatch(
      /^TEAM_INVALID: inner is a team, and MagenticOneGroupChat takes agents only/,
    )
    expect(make([new ScriptedAgent(LEADER)])).toMatch(/^TEAM_INVALID/)
    expect(make([])).toMatch(/^TEAM_INVALID/)
    expect(
      failureOf(() => new MagenticOneGroupChat({ participants: [new ScriptedAgent("a")] } as never)),
    ).toMatch(/^OPTION_INVALID: .*modelClient: is no model client/)
  })

  it("is written down as data, and made again from it", () => {
    const agent = defineComponent({
      provider: "test.Agent",
      type: "agent",
      config: z.object({}),
      create: () => new Written(),
    })
    class Written extends ScriptedAgent {
      constructor() {
        super("a")
      }
      toComponent(): ReturnType<typeof agent.dump> {
        return agent.dump({})
      }
    }
    const registry = new ComponentRegistry([
      agent,
      ReplayChatCompletionClient.definition,
      MagenticOneGroupChat.definition,
    ])
    const team = new MagenticOneGroupChat({
      participants: [new Written()],
      modelClient: client(),
      maxTurns: 7,
      maxStalls: 2,
      finalAnswerPrompt: "Answer.",
    })
    const data = team.toComponent()
    expect(data).toMatchObject({
      provider: "glovebox.teams.MagenticOneGroupChat",
      config: { max_turns: 7, max_stalls: 2, final_answer_prompt: "Answer." },
    })
    const again = registry.load(
      { ...data, provider: "autogen_agentchat.teams.MagenticOneGroupChat" },
      MagenticOneGroupChat,
    )
    expect(again.toComponent()).toEqual(data)
  })
})
