import { describe, expect, it } from "vitest"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import type { LLMMessage } from "../models/index.ts"
import { ListMemory, UnboundedChatCompletionContext } from "./index.ts"

const system: LLMMessage = { type: "SystemMessage", content: "Be brief." }
const user: LLMMessage = { type: "UserMessage", content: "Hi", source: "user" }

describe("ListMemory", () => {
  it("puts all it knows into a request, after the instructions, in one message", async () => {
    const memory = new ListMemory({ contents: [{ content: "likes tea" }] })
    await memory.add({ content: { units: "metric" }, mimeType: "application/json" })
    const { messages, memories } = await memory.updateContext([system, user])
    expect(messages).toEqual([
      system,
      {
        type: "SystemMessage",
        content: '\nRelevant memory content (in chronological order):\n1. likes tea\n2. {"units":"metric"}\n',
      },
      user,
    ])
    expect(memories).toEqual(await memory.query())
  })

  it("is told with each request anew, and never becomes a part of the conversation", async () => {
    const memory = new ListMemory({ contents: [{ content: "likes tea" }] })
    const context = new UnboundedChatCompletionContext({ initialMessages: [system] })
    for (const turn of [1, 2, 3]) {
      await context.addMessage(user)
      const { messages } = await memory.updateContext(await context.getMessages())
      expect(messages.filter(({ type }) => type === "SystemMessage")).toHaveLength(2)
      expect(await context.getMessages()).toHaveLength(1 + turn)
    }
  })

  it("adds nothing when it knows nothing, also after it was cleared", async () => {
    const memory = new ListMemory({ contents: [{ content: "x" }] })
    await memory.clear()
    expect((await memory.updateContext([user])).messages).toEqual([user])
    await memory.close()
    await memory[Symbol.asyncDispose]()
  })

  it("refuses what cannot be told, and stops when it is aborted", async () => {
    const memory = new ListMemory()
    await expectFailure(memory.add({ content: () => 1 } as never), "OPTION_INVALID", /remembered/)
    await expectFailure(memory.add({ text: "x" } as never), "OPTION_INVALID")
    const signal = AbortSignal.abort(new Error("enough"))
    await expect(memory.query("x", { signal })).rejects.toThrow("enough")
    expect(memory.contents).toEqual([])
  })
})
