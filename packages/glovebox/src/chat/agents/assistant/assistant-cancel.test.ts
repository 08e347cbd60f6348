import { describe, expect, it } from "vitest"
import { ListMemory, UnboundedChatCompletionContext } from "../../../memory/index.ts"
import { ReplayChatCompletionClient } from "../../../models/replay/index.ts"
import { tool } from "../../../tools/index.ts"
import { TextMessage } from "../../messages/index.ts"
import { AssistantAgent, type AssistantAgentOptions } from "./index.ts"
import { call, forever, openCalls, resultOf, shown, toolThat, workbenchOf } from "./assistant.test-kit.ts"

type Phase = (abort: () => void) => Partial<AssistantAgentOptions> & {
  readonly modelClient: ReplayChatCompletionClient
}

const nothing = async function* (): ReturnType<Parameters<typeof workbenchOf>[1]> {
  yield* []
  return resultOf("stuck", "")
}

/** Each hangs in another phase of the first turn, deaf to its signal, and works in the second. */
const PHASES: Readonly<Record<string, Phase>> = {
  "asks the model": (abort) => {
    const modelClient = new ReplayChatCompletionClient(["ok"])
    const create = modelClient.create.bind(modelClient)
    let isFirst = true
    modelClient.create = async (messages, options) => {
      if (!isFirst) return create(messages, options)
      isFirst = false
      abort()
      return forever()
    }
    return { modelClient }
  },
  "reads the model's stream": (abort) => {
    const modelClient = new ReplayChatCompletionClient(["ok"])
    const createStream = modelClient.createStream.bind(modelClient)
    let isFirst = true
    modelClient.createStream = async function* (messages, options) {
      if (!isFirst) return yield* createStream(messages, options)
      isFirst = false
      yield "Well, "
      abort()
      return forever()
    }
    return { modelClient, modelClientStream: true }
  },
  "calls a tool": (abort) => ({
    modelClient: new ReplayChatCompletionClient([[call("look"), call("stuck")], "ok"]),
    tools: [toolThat("look", "seen")],
    workbench: workbenchOf("stuck", async function* () {
      yield* []
      abort()
      return forever()
    }),
  }),
  "waits for an approval": (abort) => ({
    modelClient: new ReplayChatCompletionClient([[call("pay")], "ok"]),
    tools: [tool({ name: "pay", description: "Pays", approval: true, execute: () => "paid" })],
    approve: () => {
      abort()
      return forever()
    },
  }),
  "lists tools": (abort) => {
    let isFirst = true
    return {
      modelClient: new ReplayChatCompletionClient(["ok"]),
      workbench: workbenchOf("stuck", nothing, async () => {
        if (!isFirst) return []
        isFirst = false
        abort()
        return forever()
      }),
    }
  },
  "asks a memory": (abort) => {
    const memory = new ListMemory()
    let isFirst = true
    memory.updateContext = async (messages) => {
      if (!isFirst) return { messages, memories: [] }
      isFirst = false
      abort()
      return forever()
    }
    return { modelClient: new ReplayChatCompletionClient(["ok"]), memory: [memory] }
  },
  "reads its context": (abort) => {
    const modelContext = new UnboundedChatCompletionContext()
    const getMessages = modelContext.getMessages.bind(modelContext)
    let isFirst = true
    modelContext.getMessages = async () => {
      if (!isFirst) return getMessages()
      isFirst = false
      abort()
      return forever()
    }
    return { modelClient: new ReplayChatCompletionClient(["ok"]), modelContext }
  },
}

describe("AssistantAgent that is cancelled while it", () => {
  it.each(Object.entries(PHASES))("%s rejects with the reason, and can go on", async (_name, phase) => {
    const controller = new AbortController()
    const reason = new Error("enough")
    const options = phase(() => controller.abort(reason))
    const assistant = new AssistantAgent({ name: "coder", ...options })
    const task = TextMessage({ content: "Go", source: "user" })
    await expect(assistant.run(task, { signal: controller.signal })).rejects.toBe(reason)
    expect(openCalls(await assistant.modelContext.getMessages())).toEqual([])

    expect((await assistant.run(task)).stopKind).toBe("answer")
    const messages = shown(options.modelClient, options.modelClient.createCalls.length - 1)
    expect(messages.filter(({ type }) => type === "UserMessage")).toHaveLength(1)
    expect(openCalls(messages)).toEqual([])
  })
})

describe("AssistantAgent that is cancelled", () => {
  it("keeps the results that came, and says which did not", async () => {
    const controller = new AbortController()
    const modelClient = new ReplayChatCompletionClient([
      [call("look", {}, "1"), call("stuck", {}, "2"), call("transfer_to_user", {}, "3")],
    ])
    const stuck = toolThat("stuck", () => {
      controller.abort(new Error("enough"))
      return forever()
    })
    const tools = [toolThat("look", "seen"), stuck]
    const assistant = new AssistantAgent({
      name: "coder",
      modelClient,
      tools,
      handoffs: ["user"],
      parallelToolCalls: false,
    })
    await expect(assistant.run("Go", { signal: controller.signal })).rejects.toThrow("enough")
    const cancelled = { content: expect.stringContaining("cancelled before it ended"), isError: true }
    expect((await assistant.modelContext.getMessages()).at(-1)?.content).toMatchObject([
      { callId: "1", content: "seen", isError: false },
      { callId: "2", ...cancelled },
      { callId: "3", ...cancelled },
    ])
  })

  it("before a call begins does not begin it", async () => {
    const controller = new AbortController()
    let hasBegun = false
    const deaf = workbenchOf("deaf", async function* () {
      yield* []
      hasBegun = true
      return resultOf("deaf", "done")
    })
    const modelClient = new ReplayChatCompletionClient([[call("deaf")]])
    const assistant = new AssistantAgent({ name: "coder", modelClient, workbench: deaf })
    const reading = async (): Promise<void> => {
      for await (const item of assistant.runStream("Go", { signal: controller.signal })) {
        if (item.type === "ToolCallRequestEvent") controller.abort(new Error("enough"))
      }
    }
    await expect(reading()).rejects.toThrow("enough")
    expect(hasBegun).toBe(false)
    expect(openCalls(await assistant.modelContext.getMessages())).toEqual([])
  })

  it("before it begins takes no message", async () => {
    const modelClient = new ReplayChatCompletionClient(["ok"])
    const assistant = new AssistantAgent({ name: "coder", modelClient })
    const signal = AbortSignal.abort(new Error("enough"))
    await expect(assistant.run("Go", { signal })).rejects.toThrow("enough")
    await expect(assistant.onMessages([], { signal })).rejects.toThrow("enough")
    expect(await assistant.modelContext.getMessages()).toEqual([])
  })

  it("by leaving its stream ends its tools, and leaves no call open", async () => {
    let seen: AbortSignal | undefined
    const printing = toolThat("print", async function* (signal) {
      seen = signal
      yield "line 1"
      await forever()
    })
    const modelClient = new ReplayChatCompletionClient([[call("print")], "ok"])
    const assistant = new AssistantAgent({ name: "coder", modelClient, tools: [printing] })
    for await (const item of assistant.runStream("Go")) if (item.type === "ToolOutputEvent") break
    expect(seen?.aborted).toBe(true)
    expect(openCalls(await assistant.modelContext.getMessages())).toEqual([])
    expect((await assistant.run("On")).stopKind).toBe("answer")
    expect(shown(modelClient, 1).map(({ type }) => type)).toEqual([
      "UserMessage",
      "AssistantMessage",
      "FunctionExecutionResultMessage",
      "UserMessage",
    ])
  })

  it("by leaving its stream in the middle of the model's words ends the model's stream", async () => {
    const modelClient = new ReplayChatCompletionClient(["one two three", "ok"])
    const assistant = new AssistantAgent({ name: "coder", modelClient, modelClientStream: true })
    for await (const item of assistant.runStream("Go")) {
      if (item.type === "ModelClientStreamingChunkEvent") break
    }
    expect(modelClient.createCalls[0]?.options.signal?.aborted).toBe(true)
    expect((await assistant.run("On")).stopKind).toBe("answer")
  })
})
