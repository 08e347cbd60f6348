import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { type ComponentModel, ComponentRegistry, type JsonObject, defineComponent } from "../../core/index.ts"
import { z } from "zod"
import { type ChatMessage, TextMessage, toText } from "../messages/index.ts"
import { type Response, response } from "../task/index.ts"
import { BaseChatAgent } from "./base-chat-agent.ts"
import { MessageFilterAgent, type MessageFilterAgentOptions } from "./message-filter-agent.ts"
import type { MessageFilter } from "./message-filter.ts"

/** Says what it was told, and notes what it was asked to do. */
class Echo extends BaseChatAgent {
  static readonly definition = defineComponent({
    provider: "test.Echo",
    type: "agent",
    config: z.object({ name: z.string() }),
    create: ({ name }) => new Echo(name),
  })
  readonly asked: string[] = []
  #heard: readonly string[] = []

  constructor(name = "echo") {
    super(name, "Says it again.")
  }

  override get producedMessageTypes(): readonly string[] {
    return ["StopMessage"]
  }

  override async onMessages(messages: readonly ChatMessage[]): Promise<Response> {
    this.#heard = messages.map(toText)
    return response(TextMessage({ content: this.#heard.join(" "), source: this.name }))
  }

  override async onReset(): Promise<void> {
    this.asked.push("reset")
  }

  override async onPause(): Promise<void> {
    this.asked.push("pause")
  }

  override async onResume(): Promise<void> {
    this.asked.push("resume")
  }

  override async close(): Promise<void> {
    this.asked.push("close")
  }

  override async saveState(): Promise<JsonObject> {
    return { heard: [...this.#heard] }
  }

  override async loadState({ heard }: JsonObject): Promise<void> {
    this.#heard = heard as string[]
  }

  toComponent(): ComponentModel {
    return Echo.definition.dump({ name: this.name })
  }
}

const CONVERSATION = ["a: 1", "b: 2", "a: 3", "c: 4", "b: 5", "a: 6"].map((line) => {
  const [source = "", content = ""] = line.split(": ")
  return TextMessage({ source, content })
})

const signal = new AbortController().signal

async function heard(filter: MessageFilter): Promise<string> {
  const agent = new MessageFilterAgent({ wrappedAgent: new Echo(), filter })
  return toText((await agent.onMessages(CONVERSATION, { signal })).chatMessage)
}

describe("MessageFilterAgent", () => {
  it.each<[MessageFilter["perSource"], string]>([
    [[], ""],
    [[{ source: "a" }], "1 3 6"],
    [[{ source: "a", position: "first", count: 1 }], "1"],
    [[{ source: "a", position: "last", count: 2 }], "3 6"],
    [[{ source: "a", position: "last", count: 9 }], "1 3 6"],
    [[{ source: "a", position: "first", count: 0 }], "1 3 6"],
    [[{ source: "a", position: "last" }], "1 3 6"],
    [[{ source: "nobody" }], ""],
  ])("lets through what %j says", async (perSource, content) => {
    expect(await heard({ perSource })).toBe(content)
  })

  it("keeps the order in which things were said, and each of them once", async () => {
    const perSource = [
      { source: "b" },
      { source: "a", position: "last", count: 2 },
      { source: "a", position: "first", count: 2 },
    ] as const
    expect(await heard({ perSource })).toBe("1 2 3 5 6")
    expect(await heard({ perSource, order: "rules" })).toBe("2 5 3 6 1")
  })

  it("has the name and the description of the agent inside, unless it is given others", async () => {
    const wrappedAgent = new Echo()
    const filter = { perSource: [{ source: "user" }] }
    const plain = new MessageFilterAgent({ wrappedAgent, filter })
    expect([plain.name, plain.description]).toEqual(["echo", "Says it again."])
    expect(plain.producedMessageTypes).toEqual(["StopMessage"])
    const named = new MessageFilterAgent({ wrappedAgent, filter, name: "other", description: "Other." })
    expect([named.name, named.description]).toEqual(["other", "Other."])
    const { messages } = await named.run("hi")
    expect(messages.at(-1)).toMatchObject({ source: "echo", content: "hi" })
  })

  it("passes state, reset, pause, resume and close on", async () => {
    const wrappedAgent = new Echo()
    {
      await using agent = new MessageFilterAgent({ wrappedAgent, filter: { perSource: [{ source: "a" }] } })
      await agent.onReset({ signal })
      await agent.onPause()
      await agent.onResume()
      await agent.loadState({ heard: ["x"] })
      expect(await agent.saveState()).toEqual({ heard: ["x"] })
    }
    expect(wrappedAgent.asked).toEqual(["reset", "pause", "resume", "close"])
  })

  it.each<[unknown, RegExp]>([
    [{ filter: { perSource: [] } }, /wrappedAgent: must be an agent/],
    [{ wrappedAgent: new Echo(), filter: { per_source: [] } }, /perSource/],
    [
      { wrappedAgent: new Echo(), filter: { perSource: [{ source: "a", count: 1 }] } },
      /count and no position/,
    ],
    [{ wrappedAgent: new Echo(), filter: { perSource: [{ source: "a", position: "middle" }] } }, /position/],
    [{ wrapped_agent: new Echo(), filter: { perSource: [] } }, /did you mean wrappedAgent\?/],
  ])("refuses %j", (options, message) => {
    expect(failureOf(() => new MessageFilterAgent(options as MessageFilterAgentOptions))).toMatch(message)
  })

  it("is written down with the agent inside, and made again, also from what AutoGen writes", async () => {
    const filter = { perSource: [{ source: "user", position: "last", count: 1 } as const] }
    const model = new MessageFilterAgent({
      wrappedAgent: new Echo("inner"),
      filter,
      name: "outer",
    }).toComponent()
    expect(model.config).toMatchObject({
      name: "outer",
      wrapped_agent: { provider: "test.Echo" },
      filter: { per_source: [{ source: "user", position: "last", count: 1 }], order: "chronological" },
    })
    const registry = new ComponentRegistry([MessageFilterAgent.definition, Echo.definition])
    expect(registry.load(model, MessageFilterAgent).toComponent()).toEqual(model)
    const config = {
      name: "outer",
      wrapped_agent: new Echo("inner").toComponent(),
      filter: { per_source: [{ source: "user", position: null, count: null }] },
    }
    const loaded = registry.load(
      { provider: "autogen_agentchat.agents.MessageFilterAgent", config },
      MessageFilterAgent,
    )
    expect((await loaded.run("hi")).messages.at(-1)).toMatchObject({ source: "inner", content: "hi" })
  })
})
