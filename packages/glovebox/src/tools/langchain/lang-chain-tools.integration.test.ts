import { ToolMessage } from "@langchain/core/messages"
import { convertToOpenAITool } from "@langchain/core/utils/function_calling"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { sampleTools } from "../adapters.test-kit.ts"
import { type LangChainToolsOptions, langChainTools } from "./index.ts"

/** As an agent of the library calls a tool. */
async function call(
  name: string,
  args: Record<string, unknown>,
  ran: string[] = [],
  options: LangChainToolsOptions = {},
): Promise<ToolMessage> {
  const tool = (await langChainTools(sampleTools(ran), options)).find((one) => one.name === name)
  const message: unknown = await tool?.invoke({ type: "tool_call", id: "call-1", name, args })
  if (!(message instanceof ToolMessage)) throw new Error("the library gave no message")
  return message
}

describe("langChainTools", () => {
  it("lets the library call a tool, and shows it to models with its schema", async () => {
    const ran: string[] = []
    const message = await call("repeat", { text: "ab", times: 2 }, ran)
    expect(message).toMatchObject({ content: "abab", tool_call_id: "call-1", name: "repeat" })
    expect(ran).toEqual(["repeat call-1"])
    const [repeat] = await langChainTools(sampleTools())
    expect(repeat && convertToOpenAITool(repeat)).toMatchObject({
      function: { name: "repeat", description: "Repeats a text", parameters: { required: ["text"] } },
    })
    expect(await repeat?.invoke({ text: "a" })).toBe("a")
  })

  it("gives images as images, and errors as errors", async () => {
    expect((await call("draw", {})).content).toMatchObject([
      { type: "text", text: "A dot:" },
      { type: "image", mimeType: "image/png" },
    ])
    expect(await call("fail", {})).toMatchObject({ status: "error", content: "out of ink" })
    await expectFailure(call("crash", {}), "TOOL_FAILED", /on fire/)
  })

  it("refuses what needs an approval, unless somebody gives it", async () => {
    const ran: string[] = []
    await expectFailure(call("remove", { path: "etc/x" }, ran), "TOOL_APPROVAL_REQUIRED")
    const denied = await call("remove", { path: "etc/x" }, ran, { approve: () => ({ approved: false }) })
    expect(denied.status).toBe("error")
    expect(ran).toEqual([])
    await call("remove", { path: "etc/x" }, ran, { approve: () => ({ approved: true }) })
    expect(ran).toEqual(["remove etc/x"])
  })

  it("ends a tool with the call that it belongs to", async () => {
    const [repeat] = await langChainTools(sampleTools())
    const signal = AbortSignal.abort(new Error("enough"))
    await expect(repeat?.invoke({ text: "a" }, { signal })).rejects.toThrow(/enough|abort/i)
  })
})
