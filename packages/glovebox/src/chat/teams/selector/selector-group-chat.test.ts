import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { type ReplayResponse, ReplayChatCompletionClient } from "../../../models/replay/index.ts"
import { MaxMessageTermination } from "../../conditions/index.ts"
import { toText } from "../../messages/index.ts"
import { ScriptedAgent } from "../../scripted-agent.test-kit.ts"
import { RoundRobinGroupChat, SelectorGroupChat, type SelectorGroupChatOptions } from "../index.ts"

const model = (...answers: readonly ReplayResponse[]): ReplayChatCompletionClient =>
  new ReplayChatCompletionClient(answers)

const agents = (...names: readonly string[]): ScriptedAgent[] => names.map((name) => new ScriptedAgent(name))

function team(options: Partial<SelectorGroupChatOptions> = {}): SelectorGroupChat {
  return new SelectorGroupChat({
    participants: agents("a", "b", "c"),
    modelClient: model(),
    maxTurns: 1,
    ...options,
  })
}

const said = ({ messages }: { readonly messages: readonly object[] }): string[] =>
  messages.map((message) => toText(message as never))

describe("SelectorGroupChat", () => {
  it("lets the model choose who speaks next", async () => {
    const modelClient = model("b", "c")
    await using group = team({ modelClient, maxTurns: 2 })
    expect(said(await group.run("hello"))).toEqual(["hello", "b1", "c1"])
    expect(modelClient.createCalls).toHaveLength(2)
  })

  it("asks no model where one candidate is left", async () => {
    const modelClient = model("a")
    await using group = team({ modelClient, participants: agents("a", "b"), maxTurns: 4 })
    expect(said(await group.run("hello"))).toEqual(["hello", "a1", "b1", "a2", "b2"])
    expect(modelClient.createCalls).toHaveLength(1)
  })

  it("does not let the same one speak twice, also in the next run", async () => {
    await using group = team({ modelClient: model("a", "a", "b") })
    await group.run("hello")
    expect(said(await group.run("again"))).toEqual(["again", "b1"])
  })

  it("lets the same one speak twice where that is allowed", async () => {
    await using group = team({ modelClient: model("a", "a"), allowRepeatedSpeaker: true, maxTurns: 2 })
    expect(said(await group.run("hello"))).toEqual(["hello", "a1", "a2"])
  })

  it("takes a team as a participant, and shows its words to the others", async () => {
    const inner = new RoundRobinGroupChat({ name: "inner", participants: agents("x", "y"), maxTurns: 2 })
    const [a] = agents("a")
    await using group = team({
      participants: [a as ScriptedAgent, inner],
      modelClient: model("inner"),
      maxTurns: 2,
    })
    expect(said(await group.run("hello"))).toEqual(["hello", "x1", "y1", "a1"])
    expect(a?.heard).toEqual([["hello", "x1", "y1"]])
  })

  it("works inside a team, and its model calls count there once", async () => {
    const inner = team({ name: "inner", modelClient: model("b", "a"), maxTurns: 2, emitTeamEvents: true })
    await using outer = new RoundRobinGroupChat({ participants: [inner], maxTurns: 1 })
    const { messages, usage } = await outer.run("hello")
    const events = messages.filter(({ type }) => type === "SelectorEvent")
    expect(events.map(toText)).toEqual(["b", "a"])
    expect(usage.completionTokens).toBe(2)
  })
})

describe("SelectorGroupChat with one participant", () => {
  it("lets it answer once where nothing else ends the run, and asks no model", async () => {
    const modelClient = model()
    await using group = new SelectorGroupChat({ participants: agents("a"), modelClient })
    const result = await group.run("hello")
    expect(said(result)).toEqual(["hello", "a1"])
    expect(result).toMatchObject({
      stopKind: "completed",
      stopReason: "a has spoken and is alone in SelectorGroupChat.",
    })
    expect(said(await group.run("again"))).toEqual(["again", "a2"])
    expect(modelClient.createCalls).toEqual([])
  })

  it.each([{ maxTurns: 3 }, { maxTurns: undefined, terminationCondition: new MaxMessageTermination(4) }])(
    "goes on until what was set to end it",
    async (options) => {
      await using group = team({ participants: agents("a"), ...options })
      expect(said(await group.run("hello"))).toEqual(["hello", "a1", "a2", "a3"])
    },
  )
})

describe("selectorFunc", () => {
  it("chooses in the model's place, and leaves to the model what it does not choose", async () => {
    const modelClient = model("c", "a")
    const seen: string[][] = []
    const choices = ["b", null, undefined]
    await using group = team({
      modelClient,
      maxTurns: 3,
      selectorFunc: async (thread) => {
        seen.push(thread.map(toText))
        return choices.shift()
      },
    })
    expect(said(await group.run("hello"))).toEqual(["hello", "b1", "c1", "a1"])
    expect(seen).toEqual([["hello"], ["hello", "b1"], ["hello", "b1", "c1"]])
    expect(modelClient.createCalls).toHaveLength(2)
  })

  it("may choose the same one again, who then is the previous speaker for the model", async () => {
    const choices = ["a", "a"]
    // The model's wish for a third turn of it is refused.
    await using group = team({
      modelClient: model("a", "b"),
      maxTurns: 3,
      selectorFunc: () => choices.shift(),
    })
    expect(said(await group.run("hello"))).toEqual(["hello", "a1", "a2", "b1"])
  })

  it.each(["nobody", "A", 7])("fails with what it gave when that is no participant: %j", async (name) => {
    await using group = team({ name: "Group", selectorFunc: () => name as string })
    await expectFailure(
      group.run("hello"),
      "SPEAKER_INVALID",
      new RegExp(`selectorFunc of Group gave "?${name}"?. Return one of the participants: a, b, c`),
    )
  })

  it("fails the run with its own error, and the next run works", async () => {
    let isBroken = true
    await using group = team({
      selectorFunc: () => {
        if (isBroken) throw new RangeError("broken")
        return "a"
      },
    })
    await expect(group.run("hello")).rejects.toThrow("broken")
    isBroken = false
    expect(said(await group.run())).toEqual(["a1"])
  })
})

describe("candidateFunc", () => {
  it("says who may be chosen, the previous speaker too", async () => {
    const modelClient = model("a", "a")
    await using group = team({ modelClient, maxTurns: 2, candidateFunc: async () => ["c", "a"] })
    expect(said(await group.run("hello"))).toEqual(["hello", "a1", "a2"])
    expect(modelClient.createCalls[0]?.messages[0]?.content).toContain("now: a, c\n")
  })

  it("needs no model where it names one, however often", async () => {
    const modelClient = model()
    await using group = team({ modelClient, candidateFunc: () => ["b", "b"] })
    expect(said(await group.run("hello"))).toEqual(["hello", "b1"])
    expect(modelClient.createCalls).toEqual([])
  })

  it("keeps the model to it", async () => {
    const modelClient = model("b", "I insist on b", "b")
    await using group = team({ modelClient, candidateFunc: () => ["a", "c"] })
    expect(said(await group.run("hello"))).toEqual(["hello", "a1"])
    expect(modelClient.createCalls).toHaveLength(3)
  })

  it.each([[[]], [undefined], [["a", "nobody"]], ["a"]])(
    "fails when it gives no list of participants: %j",
    async (candidates) => {
      await using group = team({ candidateFunc: () => candidates as string[] })
      await expectFailure(
        group.run("hello"),
        "SPEAKER_INVALID",
        /candidateFunc of SelectorGroupChat gave .*Return a list of one or more of the participants: a, b, c/,
      )
    },
  )
})

describe("the speaker of a SelectorGroupChat", () => {
  it("is a candidate, whatever the model answers", async () => {
    const names = ["a", "b", "c_d", "e"]
    const answer = fc.oneof(
      fc.constantFrom(...names),
      fc.string(),
      fc
        .array(fc.constantFrom(...names, "c d", "not", ",", "E"), { maxLength: 4 })
        .map((words) => words.join(" ")),
    )
    const candidates = fc.option(fc.subarray(names, { minLength: 1 }))
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { minLength: 1, maxLength: 5 }),
        candidates,
        fc.boolean(),
        async (answers, allowed, allowRepeatedSpeaker) => {
          await using group = team({
            participants: agents(...names),
            modelClient: new ReplayChatCompletionClient(answers, { repeat: true }),
            maxSelectorAttempts: 2,
            maxTurns: 4,
            allowRepeatedSpeaker,
            ...(allowed ? { candidateFunc: () => allowed } : {}),
          })
          const { messages } = await group.run("hello")
          const speakers = messages.slice(1).map(({ source }) => source)
          expect(speakers).toHaveLength(4)
          expect(allowed ?? names).toEqual(expect.arrayContaining(speakers))
          const repeated = speakers.filter((speaker, index) => speaker === speakers[index - 1])
          expect(allowed !== null || allowRepeatedSpeaker ? [] : repeated).toEqual([])
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe("the options of a SelectorGroupChat", () => {
  const make = (options: object) => (): unknown =>
    new SelectorGroupChat({ participants: agents("a", "b"), modelClient: model(), ...options })

  it.each([
    [{ participants: [] }, /^TEAM_INVALID: SelectorGroupChat has 0 participants/],
    [{ participants: agents("a", "a") }, /^TEAM_INVALID: .*two participants called a/],
    [{ modelClient: undefined }, /^OPTION_INVALID: .*modelClient: undefined is no model client/],
    [{ modelContext: {} }, /^OPTION_INVALID: .*modelContext: .* is no model context/],
    [{ maxSelectorAttempts: 0 }, /^OPTION_INVALID: .*maxSelectorAttempts/],
    [{ selectorFunc: "a" }, /^OPTION_INVALID: .*selectorFunc: must be a function/],
    [
      { selector_func: () => "a" },
      /^OPTION_INVALID: .*selector_func is not an option; did you mean selectorFunc\?/,
    ],
    [{ agents: [] }, /^OPTION_INVALID: .*did you mean participants\?/],
  ])("are checked: %#", (options, problem) => {
    expect(failureOf(make(options))).toMatch(problem)
  })
})
