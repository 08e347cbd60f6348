import { type ModelMessage, generateText, stepCountIs } from "ai"
import { MockLanguageModelV3 } from "ai/test"
import { describe, expect, it } from "vitest"
import { sampleTools } from "../adapters.test-kit.ts"
import { aiSdkTools } from "./index.ts"

type Answer = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>

const usage: Answer["usage"] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** A model that calls a tool once, and then says that it is done. */
function calling(toolName: string, input: object): MockLanguageModelV3 {
  const content: Answer["content"][] = [
    [{ type: "tool-call", toolCallId: "call-1", toolName, input: JSON.stringify(input) }],
    [{ type: "text", text: "done" }],
  ]
  return new MockLanguageModelV3({
    doGenerate: content.map((part, index) => ({
      content: part,
      finishReason: { unified: index === 0 ? "tool-calls" : "stop", raw: undefined },
      usage,
      warnings: [],
    })),
  })
}

async function run(
  toolName: string,
  input: object,
  ran: string[] = [],
  messages?: ModelMessage[],
): Promise<{ seen: unknown; tools: unknown; text: string; content: unknown[]; responses: ModelMessage[] }> {
  const model = calling(toolName, input)
  const given = messages ? { messages } : { prompt: "Do it." }
  const result = await generateText({
    model,
    tools: await aiSdkTools(sampleTools(ran)),
    stopWhen: stepCountIs(3),
    ...given,
  })
  const last = model.doGenerateCalls.at(-1)?.prompt.at(-1)
  const seen =
    last?.role === "tool" && last.content[0]?.type === "tool-result" ? last.content[0].output : undefined
  return {
    seen,
    tools: model.doGenerateCalls[0]?.tools,
    text: result.text,
    content: result.content,
    responses: result.response.messages,
  }
}

describe("aiSdkTools", () => {
  it("lets the library's model call a tool, with its schema whole", async () => {
    const ran: string[] = []
    const { seen, tools, text } = await run("repeat", { text: "ab", times: 2 }, ran)
    expect(tools).toContainEqual(
      expect.objectContaining({
        name: "repeat",
        inputSchema: expect.objectContaining({ required: ["text"] }) as object,
      }),
    )
    expect(seen).toEqual({ type: "text", value: "abab" })
    expect(ran).toEqual(["repeat call-1"])
    expect(text).toBe("done")
  })

  it("gives images as images, and errors as errors that the model sees", async () => {
    expect((await run("draw", {})).seen).toMatchObject({
      type: "content",
      value: [
        { type: "text", text: "A dot:" },
        { type: "image-data", mediaType: "image/png" },
      ],
    })
    expect((await run("fail", {})).seen).toEqual({ type: "error-text", value: "out of ink" })
    expect((await run("repeat", { text: 5 })).seen).toMatchObject({
      type: "error-text",
      value: expect.stringContaining("Correct them") as string,
    })
  })

  it("leaves the approval to the library, which does not run the tool without", async () => {
    const ran: string[] = []
    const { content, responses } = await run("remove", { path: "etc/x" }, ran)
    expect(content.map((part) => (part as { type: string }).type)).toContain("tool-approval-request")
    expect(ran).toEqual([])
    await run("remove", { path: "tmp/x" }, ran)
    expect(ran).toEqual(["remove tmp/x"])
    const request = content.find((part) => (part as { type: string }).type === "tool-approval-request") as {
      approvalId: string
    }
    const approved: ModelMessage = {
      role: "tool",
      content: [{ type: "tool-approval-response", approvalId: request.approvalId, approved: true }],
    }
    const model = new MockLanguageModelV3({
      doGenerate: {
        content: [{ type: "text", text: "done" }],
        finishReason: { unified: "stop", raw: undefined },
        usage,
        warnings: [],
      },
    })
    const messages: ModelMessage[] = [{ role: "user", content: "Do it." }, ...responses, approved]
    await generateText({ model, tools: await aiSdkTools(sampleTools(ran)), messages })
    expect(ran).toEqual(["remove tmp/x", "remove etc/x"])
  })

  it("ends a tool with the call that it belongs to", async () => {
    const controller = new AbortController()
    controller.abort(new Error("enough"))
    const tools = await aiSdkTools(sampleTools())
    const options = { toolCallId: "1", messages: [], abortSignal: controller.signal }
    await expect(tools["repeat"]?.execute?.({ text: "a" }, options)).rejects.toThrow("enough")
  })
})
