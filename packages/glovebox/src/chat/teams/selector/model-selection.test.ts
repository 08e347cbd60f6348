import { describe, expect, it } from "vitest"
import { gate } from "../../../core/gate.test-kit.ts"
import { BufferedChatCompletionContext } from "../../../memory/index.ts"
import { imageFromBase64 } from "../../../models/index.ts"
import { type ReplayResponse, ReplayChatCompletionClient } from "../../../models/replay/index.ts"
import { FunctionalTermination } from "../../conditions/index.ts"
import {
  type ChatItem,
  HandoffMessage,
  MultiModalMessage,
  ThoughtEvent,
  toText,
} from "../../messages/index.ts"
import { ScriptedAgent } from "../../scripted-agent.test-kit.ts"
import { SelectorGroupChat, type SelectorGroupChatOptions } from "../index.ts"

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const agents = (...names: readonly string[]): ScriptedAgent[] => names.map((name) => new ScriptedAgent(name))

function team(
  answers: readonly ReplayResponse[],
  options: Partial<SelectorGroupChatOptions> = {},
): { readonly group: SelectorGroupChat; readonly asked: () => string[][] } {
  const modelClient = new ReplayChatCompletionClient(answers)
  const group = new SelectorGroupChat({
    participants: agents("a", "b", "c"),
    modelClient,
    maxTurns: 1,
    ...options,
  })
  const asked = (): string[][] =>
    modelClient.createCalls.map(({ messages }) => messages.map(({ content }) => content as string))
  return { group, asked }
}

describe("what the selecting model is asked", () => {
  it("has everybody's part, who may speak, and what was said", async () => {
    const { group, asked } = team(["b", "c"], { maxTurns: 2 })
    await using _closed = group
    await group.run("hello")
    const [first, second] = asked()
    expect(first).toHaveLength(1)
    expect(first?.[0]).toContain("\na: a of the test.\nb: b of the test.\nc: c of the test.\n")
    expect(first?.[0]).toContain("\nuser: hello\n")
    expect(first?.[0]).toContain("now: a, b, c\n")
    expect(second?.[0]).toContain("\nuser: hello\nb: b1\n")
    expect(second?.[0]).toContain("now: a, c\n")
  })

  it("is the prompt of the program, filled in once", async () => {
    const { group, asked } = team(["b"], { selectorPrompt: '{participants}|{history}|{"json": {roles}}' })
    await using _closed = group
    await group.run("$& {roles} {participants}")
    expect(asked()).toEqual([
      [
        'a, b, c|user: $& {roles} {participants}|{"json": a: a of the test.\nb: b of the test.\nc: c of the test.}',
      ],
    ])
  })

  it("says so when nothing was said", async () => {
    const { group, asked } = team(["b"], { selectorPrompt: "{history}" })
    await using _closed = group
    await group.run()
    expect(asked()).toEqual([["(Nothing yet.)"]])
  })

  it("has each description in one line", async () => {
    const wordy = new ScriptedAgent("a")
    Object.assign(wordy, { description: " plans\n\n  and\tthinks " })
    const { group, asked } = team(["b"], {
      participants: [wordy, ...agents("b")],
      selectorPrompt: "{roles}",
    })
    await using _closed = group
    await group.run("hello")
    expect(asked()).toEqual([["a: plans and thinks\nb: b of the test."]])
  })

  it("has messages and no events, words for images, and no tool calls behind a handoff", async () => {
    const thinker = new ScriptedAgent("a", undefined, {
      events: () => [ThoughtEvent({ content: "hm", source: "a" })],
    })
    const { group, asked } = team(["a", "b"], {
      participants: [thinker, ...agents("b", "c")],
      selectorPrompt: "{history}",
      emitTeamEvents: true,
      maxTurns: 2,
    })
    await using _closed = group
    const picture = imageFromBase64(PIXEL)
    await group.run([
      MultiModalMessage({ content: ["look", picture], source: "user" }),
      HandoffMessage({
        content: "yours",
        target: "a",
        source: "user",
        context: [{ type: "UserMessage", content: "secret", source: "user" }],
      }),
    ])
    expect(asked()[1]).toEqual(["user: look\n[image: image/png]\nuser: yours\na: a1"])
  })

  it("is no more of the conversation than the model context shows", async () => {
    const { group, asked } = team(["a", "b", "c"], {
      modelContext: new BufferedChatCompletionContext({
        bufferSize: 2,
        initialMessages: [{ type: "SystemMessage", content: "Be quick." }],
      }),
      selectorPrompt: "{history}",
      maxTurns: 3,
    })
    await using _closed = group
    await group.run("hello")
    expect(asked()).toEqual([["Be quick.\nuser: hello"], ["user: hello\na: a1"], ["a: a1\nb: b1"]])
  })

  it.each([
    ["gpt-4o", "SystemMessage"],
    ["o3", "SystemMessage"],
    ["claude", "UserMessage"],
    ["gemini", "UserMessage"],
    ["gpt-oss", "UserMessage"],
    ["unknown", "UserMessage"],
  ])("is for a model of the family %s a %s", async (family, type) => {
    const { modelInfo } = new ReplayChatCompletionClient([])
    const modelClient = new ReplayChatCompletionClient(["b"], { modelInfo: { ...modelInfo, family } })
    await using group = team([], { modelClient }).group
    await group.run("hello")
    expect(modelClient.createCalls[0]?.messages.map((message) => message.type)).toEqual([type])
  })
})

describe("an answer of the selecting model", () => {
  it.each([
    ["nobody", "This names nobody who takes part."],
    ["", "This names nobody who takes part."],
    [[{ id: "1", name: "b", arguments: "{}" }], "This names nobody who takes part."],
    ["a or b", "This names 2 of them: a, b."],
    ["a", "a cannot speak next."],
  ])("that chooses nobody is sent back with what is wrong: %j", async (answer, problem) => {
    const { group, asked } = team([answer, "c"], { candidateFunc: () => ["b", "c"] })
    await using _closed = group
    const { messages } = await group.run("hello")
    expect(messages.map(toText)).toEqual(["hello", "c1"])
    expect(asked()[1]?.slice(1)).toEqual([
      typeof answer === "string" ? answer : "",
      `${problem} Answer with exactly one of these names and nothing else: b, c.`,
    ])
  })

  it.each([
    [
      ["b", "no", "b and a", "b"],
      ["b1", "c1"],
    ],
    [
      ["c", "?", "?", "?"],
      ["c1", "a1"],
    ],
    [
      ["?", "?", "?", "?", "?", "?"],
      ["a1", "b1"],
    ],
  ])(
    "is asked for three times, and then the next candidate in turn speaks: %j",
    async (answers, speakers) => {
      const { group, asked } = team(answers, { maxTurns: 2 })
      await using _closed = group
      const { messages } = await group.run("hello")
      expect(messages.slice(1).map(toText)).toEqual(speakers)
      expect(asked()).toHaveLength(answers.length)
    },
  )

  it("is asked for as often as the program says", async () => {
    const { group, asked } = team(["?"], { maxSelectorAttempts: 1 })
    await using _closed = group
    expect((await group.run("hello")).messages.map(toText)).toEqual(["hello", "a1"])
    expect(asked()).toHaveLength(1)
  })
})

describe("a selection", () => {
  it("is shown with team events, and what it used counts once whether it is shown or not", async () => {
    const answers = ["nobody at all", "b"]
    const shown = team(answers, { emitTeamEvents: true, name: "Group" })
    const hidden = team(answers)
    await using _shown = shown.group
    await using _hidden = hidden.group
    const result = await shown.group.run("hello")
    expect(result.messages.map(({ type, source }) => `${source} ${type}`)).toEqual([
      "user TextMessage",
      "Group SelectorEvent",
      "Group SelectorEvent",
      "Group SelectSpeakerEvent",
      "b TextMessage",
    ])
    expect(result.messages.slice(1, 3).map((event) => event.modelsUsage?.completionTokens)).toEqual([3, 1])
    expect(result.usage.completionTokens).toBe(4)
    const quiet = await hidden.group.run("hello")
    expect(quiet.messages.map(toText)).toEqual(["hello", "b1"])
    expect(quiet.usage).toEqual(result.usage)
  })

  it("that was stored used nothing", async () => {
    const { group } = team([{ content: "b", cached: true }])
    await using _closed = group
    expect((await group.run("hello")).usage).toEqual({ promptTokens: 0, completionTokens: 0 })
  })

  it("is streamed in pieces of its event, which nobody keeps and no condition sees", async () => {
    const seen: ChatItem[] = []
    const { group } = team(["go b", "go a"], {
      emitTeamEvents: true,
      modelClientStreaming: true,
      maxTurns: 2,
      terminationCondition: new FunctionalTermination((messages) => {
        seen.push(...messages)
        return false
      }),
    })
    await using _closed = group
    const items: ChatItem[] = []
    const stream = group.runStream("hello")
    let next = await stream.next()
    for (; next.done !== true; next = await stream.next()) {
      if (next.value.type !== "TaskResult") items.push(next.value)
    }
    expect(items.slice(1, 6).map((item) => `${item.type} ${toText(item)}`)).toEqual([
      "ModelClientStreamingChunkEvent go ",
      "ModelClientStreamingChunkEvent b",
      "SelectorEvent go b",
      "SelectSpeakerEvent b",
      "TextMessage b1",
    ])
    const [event] = items.filter(({ type }) => type === "SelectorEvent")
    expect(items[1]).toMatchObject({ fullMessageId: event?.id, source: "SelectorGroupChat" })
    for (const kept of [next.value.messages, seen, await group.saveState()]) {
      expect(JSON.stringify(kept)).toContain("SelectorEvent")
      expect(JSON.stringify(kept)).not.toContain("ModelClientStreamingChunkEvent")
    }
  })

  it("can end the run by a condition before anybody speaks", async () => {
    const { group } = team(["b"], {
      name: "Group",
      emitTeamEvents: true,
      terminationCondition: new FunctionalTermination((messages) =>
        messages.some(({ source }) => source === "Group"),
      ),
    })
    await using _closed = group
    const result = await group.run("hello")
    expect(result.stopKind).toBe("condition")
    expect(result.messages.map(({ type }) => type)).toEqual(["TextMessage", "SelectorEvent"])
  })

  it("fails the run with the model's error, and the next run works", async () => {
    const { group } = team([new Error("model is down"), "b"])
    await using _closed = group
    await expect(group.run("hello")).rejects.toThrow("model is down")
    expect((await group.run()).messages.map(toText)).toEqual(["b1"])
  })

  it.each([false, true])(
    "ends when the run is aborted, and the next run works (streaming: %s)",
    async (modelClientStreaming) => {
      const asked = gate()
      let given: AbortSignal | undefined
      const { group } = team(
        [
          async (_messages, { signal }) => {
            given = signal
            asked.open()
            // A model that never answers.
            return new Promise(() => {})
          },
          "b",
        ],
        { modelClientStreaming },
      )
      await using _closed = group
      const controller = new AbortController()
      const run = group.run("hello", { signal: controller.signal })
      await asked.promise
      controller.abort(new Error("enough"))
      await expect(run).rejects.toThrow("enough")
      expect(given?.aborted).toBe(true)
      expect((await group.run()).messages.map(toText)).toEqual(["b1"])
    },
  )

  it.each(["selectorFunc", "candidateFunc"])(
    "by %s ends with the run, also where it does not look at the signal",
    async (option) => {
      const asked = gate()
      const signals: AbortSignal[] = []
      let isStuck = true
      const { group } = team(["b"], {
        [option]: async (_thread: unknown, { signal }: { readonly signal: AbortSignal }) => {
          signals.push(signal)
          if (!isStuck) return option === "selectorFunc" ? undefined : ["a", "b"]
          asked.open()
          return new Promise(() => {})
        },
      })
      await using _closed = group
      const controller = new AbortController()
      const run = group.run("hello", { signal: controller.signal })
      await asked.promise
      controller.abort(new Error("enough"))
      await expect(run).rejects.toThrow("enough")
      expect(signals[0]?.aborted).toBe(true)
      isStuck = false
      expect((await group.run()).messages.map(toText)).toEqual(["b1"])
    },
  )
})
