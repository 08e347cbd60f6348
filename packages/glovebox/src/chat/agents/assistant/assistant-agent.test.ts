import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { gate } from "../../../core/gate.test-kit.ts"
import { BufferedChatCompletionContext, ListMemory, type Memory } from "../../../memory/index.ts"
import type { CreateResult, Image, ModelInfo } from "../../../models/index.ts"
import { ReplayChatCompletionClient } from "../../../models/replay/index.ts"
import { tool } from "../../../tools/index.ts"
import { type ChatItem, HandoffMessage, MultiModalMessage, TextMessage } from "../../messages/index.ts"
import type { TaskResult } from "../../task/index.ts"
import { AssistantAgent } from "./index.ts"
import { call, lastMessage, shown, toolThat, typesOf } from "./assistant.test-kit.ts"

const PIXEL: Image = { type: "Image", mediaType: "image/png", data: "iVBORw0KGgo=" }
const BLIND: ModelInfo = {
  vision: false,
  functionCalling: true,
  jsonOutput: true,
  structuredOutput: true,
  family: "unknown",
}

async function collect(stream: AsyncIterable<ChatItem | TaskResult>): Promise<(ChatItem | TaskResult)[]> {
  const items: (ChatItem | TaskResult)[] = []
  for await (const item of stream) items.push(item)
  return items
}

describe("AssistantAgent answers", () => {
  it("with the model's words, and keeps the conversation", async () => {
    const modelClient = new ReplayChatCompletionClient(["42", "As I said."])
    const assistant = new AssistantAgent({ name: "coder", modelClient, systemMessage: "Be brief." })
    const result = await assistant.run("What is 6 * 7?")
    expect(lastMessage(result)).toMatchObject({ type: "TextMessage", content: "42", source: "coder" })
    expect(result.stopKind).toBe("answer")

    await assistant.run("Sure?")
    expect(modelClient.createCalls[1]?.messages).toEqual([
      { type: "SystemMessage", content: "Be brief." },
      { type: "UserMessage", content: "What is 6 * 7?", source: "user" },
      { type: "AssistantMessage", content: "42", source: "coder" },
      { type: "UserMessage", content: "Sure?", source: "user" },
    ])
  })

  it.each([null, false] as const)("without a system message when it is %s", async (systemMessage) => {
    const modelClient = new ReplayChatCompletionClient(["ok"])
    await new AssistantAgent({ name: "coder", modelClient, systemMessage }).run("Hi")
    expect(modelClient.createCalls[0]?.messages).toHaveLength(1)
  })

  it("with its metadata, and says when the answer was cut off", async () => {
    const modelClient = new ReplayChatCompletionClient([{ content: "It is", finishReason: "length" }])
    const assistant = new AssistantAgent({ name: "coder", modelClient, metadata: { team: "red" } })
    expect(lastMessage(await assistant.run("Go"))).toMatchObject({
      metadata: { team: "red", finishReason: "length" },
    })
  })

  it("with nothing where the model said nothing and called nothing", async () => {
    const modelClient = new ReplayChatCompletionClient([{ content: [] }])
    const assistant = new AssistantAgent({ name: "coder", modelClient, tools: [toolThat("noop", "")] })
    expect(lastMessage(await assistant.run("Go"))).toMatchObject({ type: "TextMessage", content: "" })
  })

  it("by what its context shows", async () => {
    const modelClient = new ReplayChatCompletionClient(["1", "2", "3"])
    const modelContext = new BufferedChatCompletionContext({ bufferSize: 2 })
    const assistant = new AssistantAgent({ name: "coder", modelClient, modelContext })
    for (const task of ["a", "b", "c"]) await assistant.run(task)
    expect(shown(modelClient, 2)).toHaveLength(2)
    expect(assistant.modelContext).toBe(modelContext)
  })
})

describe("AssistantAgent streams", () => {
  it("pieces that have the id of the message they become", async () => {
    const modelClient = new ReplayChatCompletionClient([
      { content: [call("look")], thought: "Let me look." },
      { content: "It is blue.", thought: "I see." },
    ])
    const assistant = new AssistantAgent({
      name: "coder",
      modelClient,
      modelClientStream: true,
      tools: [toolThat("look", "blue")],
    })
    const items = await collect(assistant.runStream("Which colour?", { outputTaskMessages: false }))
    const pieces = items.filter((item) => item.type === "ModelClientStreamingChunkEvent")
    const final = items.find((item) => item.type === "TextMessage")
    expect(pieces.map(({ content }) => content).join("")).toBe("It is blue.")
    expect(new Set(pieces.map(({ fullMessageId }) => fullMessageId))).toEqual(new Set([final?.id]))
    expect(new Set(items.flatMap((item) => ("id" in item ? [item.id] : []))).size).toBe(items.length - 1)
  })

  it("what run() gives, but for the pieces", async () => {
    const script = [{ content: [call("look")], thought: "Hm." }, "Blue."]
    const make = (): AssistantAgent =>
      new AssistantAgent({
        name: "coder",
        modelClient: new ReplayChatCompletionClient(script),
        modelClientStream: true,
        tools: [toolThat("look", "blue")],
      })
    const { messages } = await make().run("Which?")
    const items = await collect(make().runStream("Which?"))
    const kept = typesOf(items).filter((type) => !/Chunk|TaskResult/.test(type))
    expect(typesOf(messages)).toEqual(kept)
    expect(kept).toEqual([
      "TextMessage",
      "ThoughtEvent",
      "ToolCallRequestEvent",
      "ToolCallExecutionEvent",
      "TextMessage",
    ])
  })

  it("nothing of a client that streams something else", async () => {
    const modelClient = new ReplayChatCompletionClient([])
    modelClient.createStream = async function* () {
      yield 5 as never
      return undefined as never
    }
    const assistant = new AssistantAgent({ name: "coder", modelClient, modelClientStream: true })
    await expectFailure(assistant.run("Hi"), "MODEL_RESPONSE_INVALID", /gave 5/)
  })
})

describe("AssistantAgent tells", () => {
  it("the model's thoughts, and gives them back to it", async () => {
    const first: Partial<CreateResult> = { content: "42", thought: "6 * 7", thoughtSignature: "signed" }
    const modelClient = new ReplayChatCompletionClient([first, "ok"])
    const assistant = new AssistantAgent({ name: "coder", modelClient })
    const { messages } = await assistant.run("Go")
    expect(messages[1]).toMatchObject({ type: "ThoughtEvent", content: "6 * 7", source: "coder" })
    await assistant.run("On")
    expect(shown(modelClient, 1)[1]).toMatchObject({ thought: "6 * 7", thoughtSignature: "signed" })
  })

  it.each([
    ["until-text", false],
    ["single-round", false],
    ["single-round", true],
  ] as const)("exactly what its model used: %s, reflecting %s", async (toolLoop, reflectOnToolUse) => {
    const modelClient = new ReplayChatCompletionClient([
      { content: [call("look"), call("look")], thought: "I look twice." },
      { content: "done", thought: "That is all." },
    ])
    const tools = [toolThat("look", "seen")]
    const assistant = new AssistantAgent({ name: "coder", modelClient, tools, toolLoop, reflectOnToolUse })
    const { usage } = await assistant.run("Go")
    expect(usage).toEqual(modelClient.actualUsage())
    expect(usage.promptTokens).toBeGreaterThan(0)
  })

  it("no use of tokens for an answer that was stored", async () => {
    const modelClient = new ReplayChatCompletionClient([{ content: "42", cached: true }])
    const { usage } = await new AssistantAgent({ name: "coder", modelClient, maxTokens: 1 }).run("Go")
    expect(usage).toEqual({ promptTokens: 0, completionTokens: 0 })
  })
})

describe("AssistantAgent remembers", () => {
  it("for each request anew, once in it, and nothing in the conversation", async () => {
    const modelClient = new ReplayChatCompletionClient([[call("look")], "one", "two"])
    const memory = new ListMemory({ contents: [{ content: "The user likes tea." }] })
    const tools = [toolThat("look", "seen")]
    const assistant = new AssistantAgent({ name: "coder", modelClient, tools, memory: [memory] })
    const first = await assistant.run("Hi")
    await assistant.run("Again")
    expect(typesOf(first.messages).filter((type) => type === "MemoryQueryEvent")).toHaveLength(1)
    for (const { messages } of modelClient.createCalls) {
      expect(messages.filter(({ content }) => JSON.stringify(content).includes("likes tea"))).toHaveLength(1)
    }
    expect(JSON.stringify(await assistant.modelContext.getMessages())).not.toContain("likes tea")
  })

  it("nothing where there is nothing", async () => {
    const modelClient = new ReplayChatCompletionClient(["one"])
    const { messages } = await new AssistantAgent({
      name: "coder",
      modelClient,
      memory: [new ListMemory()],
    }).run("Hi")
    expect(typesOf(messages)).toEqual(["TextMessage", "TextMessage"])
  })

  it("in several places, each shown what the others gave", async () => {
    const modelClient = new ReplayChatCompletionClient(["one"])
    const memory: Memory[] = ["tea", "milk"].map(
      (word) => new ListMemory({ name: word, contents: [{ content: word }] }),
    )
    const { messages } = await new AssistantAgent({ name: "coder", modelClient, memory }).run("Hi")
    expect(messages[1]).toMatchObject({ content: [{ content: "tea" }, { content: "milk" }] })
    expect(modelClient.createCalls[0]?.messages).toHaveLength(4)
  })
})

describe("AssistantAgent shows images", () => {
  const seen = MultiModalMessage({ content: ["What is this?", PIXEL], source: "user" })

  it("as words to a model that does not see", async () => {
    const modelClient = new ReplayChatCompletionClient(["no idea"], { modelInfo: BLIND })
    await new AssistantAgent({ name: "coder", modelClient }).run(seen)
    expect(shown(modelClient, 0)).toEqual([
      { type: "UserMessage", content: "What is this?\n[image: image/png]", source: "user" },
    ])
  })

  it("of a tool's result to a model that sees, after the results", async () => {
    const modelClient = new ReplayChatCompletionClient([[call("plot", {}, "p1")], "A pixel."])
    const plot = tool({ name: "plot", description: "Plots", execute: () => ["Here:", PIXEL] })
    await new AssistantAgent({ name: "coder", modelClient, tools: [plot] }).run("Plot it")
    expect(shown(modelClient, 1).slice(-2)).toEqual([
      {
        type: "FunctionExecutionResultMessage",
        content: [{ callId: "p1", name: "plot", content: "Here:\n[image: image/png]", isError: false }],
      },
      { type: "UserMessage", content: ["Images in the result of plot (call p1):", PIXEL], source: "tools" },
    ])
  })

  it("of a tool's result as words alone to one that does not see", async () => {
    const modelClient = new ReplayChatCompletionClient([[call("plot")], "ok"], { modelInfo: BLIND })
    const plot = tool({ name: "plot", description: "Plots", execute: () => PIXEL })
    await new AssistantAgent({ name: "coder", modelClient, tools: [plot] }).run("Plot it")
    expect(shown(modelClient, 1).at(-1)?.type).toBe("FunctionExecutionResultMessage")
  })
})

describe("AssistantAgent takes a message", () => {
  const signal = new AbortController().signal

  it("once, when it comes again after a turn that failed", async () => {
    const modelClient = new ReplayChatCompletionClient([new Error("overloaded"), "ok", "ok"])
    const assistant = new AssistantAgent({ name: "coder", modelClient })
    const [first, second] = ["one", "two"].map((content) => TextMessage({ content, source: "user" }))
    if (!first || !second) throw new Error("two messages")
    await expect(assistant.onMessages([first], { signal })).rejects.toThrow("overloaded")
    await assistant.onMessages([first, second], { signal })
    expect(shown(modelClient, 1).map(({ content }) => content)).toEqual(["one", "two"])

    // The turn has ended: whoever says it now says it once more.
    await assistant.onMessages([first], { signal })
    expect(shown(modelClient, 2).map(({ content }) => content)).toEqual(["one", "two", "ok", "one"])
  })

  it("with what it was handed over with", async () => {
    const modelClient = new ReplayChatCompletionClient(["ok"])
    const context = [{ type: "AssistantMessage", content: "I looked it up.", source: "planner" } as const]
    const handed = HandoffMessage({ content: "Your turn.", target: "coder", source: "planner", context })
    await new AssistantAgent({ name: "coder", modelClient }).onMessages([handed], { signal })
    expect(shown(modelClient, 0)).toEqual([
      ...context,
      { type: "UserMessage", content: "Your turn.", source: "planner" },
    ])
  })

  it("of one turn at a time", async () => {
    const { promise, open } = gate()
    const modelClient = new ReplayChatCompletionClient([
      async () => {
        await promise
        return "ok"
      },
    ])
    const assistant = new AssistantAgent({ name: "coder", modelClient })
    const first = assistant.onMessages([TextMessage({ content: "a", source: "user" })], { signal })
    await expectFailure(assistant.onMessages([], { signal }), "RUN_ACTIVE")
    await expectFailure(assistant.onReset({ signal }), "RUN_ACTIVE")
    await expectFailure(assistant.loadState({}), "RUN_ACTIVE")
    open()
    expect((await first).chatMessage.type).toBe("TextMessage")
  })
})

describe("AssistantAgent's state", () => {
  it("is the conversation, for another agent to go on with", async () => {
    const first = new AssistantAgent({ name: "coder", modelClient: new ReplayChatCompletionClient(["42"]) })
    await first.run("6 * 7?")
    const state = JSON.parse(JSON.stringify(await first.saveState())) as Awaited<
      ReturnType<typeof first.saveState>
    >
    const modelClient = new ReplayChatCompletionClient(["yes"])
    const second = new AssistantAgent({ name: "coder", modelClient })
    await second.loadState(state)
    await second.run("Sure?")
    expect(shown(modelClient, 0).map(({ content }) => content)).toEqual(["6 * 7?", "42", "Sure?"])
  })

  it("knows the messages of a turn that did not end, and what tools keep", async () => {
    let counted = 0
    const counter = (): ReturnType<typeof tool> =>
      tool({
        name: "count",
        description: "Counts",
        execute: () => (counted += 1),
        state: { save: () => counted, load: (saved) => void (counted = Number(saved)) },
      })
    const message = TextMessage({ content: "one", source: "user" })
    const first = new AssistantAgent({
      name: "coder",
      modelClient: new ReplayChatCompletionClient([[call("count")], new Error("down")]),
      tools: [counter()],
    })
    await expect(first.run(message)).rejects.toThrow("down")
    const state = await first.saveState()
    counted = 0
    const modelClient = new ReplayChatCompletionClient(["ok"])
    const second = new AssistantAgent({ name: "coder", modelClient, tools: [counter()] })
    await second.loadState(state)
    await second.run(message)
    expect(counted).toBe(1)
    expect(typesOf(shown(modelClient, 0) as never)).toEqual([
      "UserMessage",
      "AssistantMessage",
      "FunctionExecutionResultMessage",
    ])
  })

  it("is refused when it is of something else", async () => {
    const assistant = new AssistantAgent({ name: "coder", modelClient: new ReplayChatCompletionClient([]) })
    const state = await assistant.saveState()
    await expectFailure(assistant.loadState({}), "STATE_INVALID", /no state of coder/)
    await expectFailure(assistant.loadState({ ...state, version: 2 }), "STATE_INVALID", /version/)
    await expectFailure(
      assistant.loadState({ ...state, workbenches: [{}] }),
      "STATE_INVALID",
      /1 workbenches/,
    )
  })

  it("is gone after a reset, but for what the context began with", async () => {
    const modelClient = new ReplayChatCompletionClient(["one", "two"])
    const initial = { type: "UserMessage", content: "I am Ada.", source: "user" } as const
    const modelContext = new BufferedChatCompletionContext({ bufferSize: 9, initialMessages: [initial] })
    const assistant = new AssistantAgent({ name: "coder", modelClient, modelContext })
    await assistant.run("Hi")
    await assistant.onReset({ signal: new AbortController().signal })
    await assistant.run("Who am I?")
    expect(shown(modelClient, 1).map(({ content }) => content)).toEqual(["I am Ada.", "Who am I?"])
  })

  it("leaves the model client open when it is closed", async () => {
    const modelClient = new ReplayChatCompletionClient(["ok"])
    const assistant = new AssistantAgent({ name: "coder", modelClient })
    await assistant.close()
    await assistant.close()
    expect((await modelClient.create([{ type: "SystemMessage", content: "Hi" }])).content).toBe("ok")
  })
})
