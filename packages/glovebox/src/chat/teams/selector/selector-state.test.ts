import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { ComponentRegistry, type JsonObject } from "../../../core/index.ts"
import {
  BufferedChatCompletionContext,
  type ChatCompletionContext,
  UnboundedChatCompletionContext,
  memoryComponents,
} from "../../../memory/index.ts"
import type { LLMMessage } from "../../../models/index.ts"
import { type ReplayResponse, ReplayChatCompletionClient } from "../../../models/replay/index.ts"
import { AssistantAgent } from "../../agents/assistant/index.ts"
import { MaxMessageTermination, conditionComponents } from "../../conditions/index.ts"
import { toText } from "../../messages/index.ts"
import { ScriptedAgent } from "../../scripted-agent.test-kit.ts"
import { SelectorGroupChat, type SelectorGroupChatOptions } from "../index.ts"

/** Tells what is added to it and when it is cleared. */
class WatchedContext extends UnboundedChatCompletionContext {
  readonly log: string[] = []

  override async addMessage(message: LLMMessage): Promise<void> {
    this.log.push(message.content as string)
    await super.addMessage(message)
  }

  override async clear(): Promise<void> {
    this.log.push("cleared")
    await super.clear()
  }
}

function team(
  answers: readonly ReplayResponse[],
  options: Partial<SelectorGroupChatOptions> = {},
): SelectorGroupChat {
  return new SelectorGroupChat({
    participants: ["a", "b", "c"].map((name) => new ScriptedAgent(name)),
    modelClient: new ReplayChatCompletionClient(answers),
    selectorPrompt: "{history}|{participants}",
    maxTurns: 1,
    ...options,
  })
}

describe("the history of a SelectorGroupChat", () => {
  it("takes each message once, however many turns there are", async () => {
    const context = new WatchedContext()
    await using group = team(["a", "b", "c", "a", "b"], { modelContext: context, maxTurns: 3 })
    await group.run("hello")
    expect(context.log).toEqual(["hello", "a1", "b1"])
    await expectFailure(group.run("again"), "REPLAY_EXHAUSTED")
    expect(context.log).toEqual(["hello", "a1", "b1", "c1", "again", "a2", "b2"])
  })

  it("begins anew with the conversation, once", async () => {
    const context = new WatchedContext()
    await using group = team(["a", "b"], { modelContext: context })
    await group.run("hello")
    await group.reset()
    await group.run("again")
    expect(context.log).toEqual(["hello", "cleared", "again"])
  })

  it("is made again once from a state, whatever it had before", async () => {
    await using first = team(["a", "b"], { maxTurns: 2 })
    await first.run("hello")
    const context = new WatchedContext()
    await using second = team(["c", "c", "a", "b"], { modelContext: context, maxTurns: 1 })
    await second.run("other")
    context.log.length = 0
    await second.loadState(await first.saveState())
    await second.run("again")
    await second.run()
    expect(context.log).toEqual(["cleared", "hello", "a1", "b1", "again", "c1"])
  })
})

describe("the state of a SelectorGroupChat", () => {
  it("goes on in another team where the first was, previous speaker and history included", async () => {
    await using first = team(["a", "b"], { maxTurns: 2 })
    await first.run("hello")
    const modelClient = new ReplayChatCompletionClient(["b", "c"])
    await using second = team([], { modelClient })
    await second.loadState(JSON.parse(JSON.stringify(await first.saveState())) as JsonObject)
    const { messages } = await second.run()
    expect(messages.map(toText)).toEqual(["c1"])
    expect(modelClient.createCalls[0]?.messages[0]?.content).toBe("user: hello\na: a1\nb: b1|a, c")
  })

  it("can be taken while the team runs", async () => {
    await using group = team(["a", "b", "c"], { maxTurns: 3 })
    let state: JsonObject | undefined
    for await (const item of group.runStream("hello")) {
      if (item.type === "TextMessage" && item.content === "a1") state = await group.saveState()
    }
    const modelClient = new ReplayChatCompletionClient(["a", "b"])
    await using other = team([], { modelClient, maxTurns: 2 })
    await other.loadState(state ?? {})
    expect((await other.run()).messages.map(toText)).toEqual(["b1"])
    expect(modelClient.createCalls.at(-1)?.messages[0]?.content).toBe("user: hello\na: a1|b, c")
  })

  it("is gone after a reset", async () => {
    await using group = team(["a", "a"])
    await group.run("hello")
    await group.reset()
    expect((await group.run("again")).messages.map(toText)).toEqual(["again", "a1"])
  })

  it.each<JsonObject>([{}, { previousSpeaker: "nobody" }, { previousSpeaker: 7 }])(
    "is refused where it does not fit, and nothing changes: %j",
    async (policy) => {
      await using group = team(["a", "a", "b"])
      await group.run("hello")
      const state = await group.saveState()
      await expectFailure(group.loadState({ ...state, policy }), "STATE_INVALID", /previous speaker/)
      expect((await group.run()).messages.map(toText)).toEqual(["b1"])
    },
  )
})

describe("a SelectorGroupChat as a component", () => {
  const registry = new ComponentRegistry([
    SelectorGroupChat.definition,
    AssistantAgent.definition,
    ReplayChatCompletionClient.definition,
    ...memoryComponents,
    ...conditionComponents,
  ])
  const assistant = (name: string): AssistantAgent =>
    new AssistantAgent({ name, modelClient: new ReplayChatCompletionClient([`${name} speaks`]) })
  const options: SelectorGroupChatOptions = {
    name: "Group",
    description: "A group.",
    participants: [assistant("a"), assistant("b"), assistant("c")],
    modelClient: new ReplayChatCompletionClient(["nobody", "b", "a"]),
    modelContext: new BufferedChatCompletionContext({ bufferSize: 3 }),
    selectorPrompt: "Who? {participants}",
    allowRepeatedSpeaker: true,
    maxSelectorAttempts: 2,
    modelClientStreaming: true,
    emitTeamEvents: true,
    maxTurns: 2,
    turnTimeout: "5s",
    terminationCondition: new MaxMessageTermination(10),
  }

  it("is made again from its data, and works as before", async () => {
    await using group = new SelectorGroupChat(options)
    const data = JSON.parse(JSON.stringify(group.toComponent())) as JsonObject
    expect(data).toMatchObject({
      provider: "glovebox.teams.SelectorGroupChat",
      component_type: "team",
      config: {
        selector_prompt: "Who? {participants}",
        allow_repeated_speaker: true,
        max_selector_attempts: 2,
        model_client_streaming: true,
      },
    })
    await using again = registry.load(data, SelectorGroupChat)
    expect(again.toComponent()).toEqual(data)
    const { messages } = await again.run("hello")
    const words = messages.filter(({ type }) => type === "TextMessage")
    expect(words.map(toText)).toEqual(["hello", "b speaks", "a speaks"])
  })

  it("is loaded by AutoGen's name, with the defaults where AutoGen left them out", async () => {
    const { config } = new SelectorGroupChat(options).toComponent()
    const { participants, model_client } = config
    await using group = registry.load(
      { provider: "autogen_agentchat.teams.SelectorGroupChat", config: { participants, model_client } },
      SelectorGroupChat,
    )
    expect(group.toComponent().config).toMatchObject({
      max_selector_attempts: 3,
      allow_repeated_speaker: false,
      model_context: null,
    })
  })

  it.each(["selectorFunc", "candidateFunc"])("cannot be written down with %s", (option) => {
    const group = new SelectorGroupChat({ ...options, [option]: () => "a" })
    expect(failureOf(() => group.toComponent())).toMatch(
      new RegExp(`^COMPONENT_INVALID: ${option} of Group is a function`),
    )
  })

  it("cannot be written down with a model context that cannot", () => {
    const modelContext: ChatCompletionContext = {
      addMessage: async () => {},
      getMessages: async () => [],
      clear: async () => {},
      saveState: async () => ({}),
      loadState: async () => {},
    }
    const group = new SelectorGroupChat({ ...options, modelContext })
    expect(failureOf(() => group.toComponent())).toMatch(/^COMPONENT_INVALID: modelContext of Group /)
  })
})
