import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import type { ChatCompletionClient } from "../../../models/index.ts"
import { ReplayChatCompletionClient } from "../../../models/replay/index.ts"
import { call, lastMessage, toolThat } from "./assistant.test-kit.ts"
import { AssistantAgent } from "./index.ts"

/** A client that somebody wrote without looking at the types. */
function clientThatGives(result: unknown): ChatCompletionClient {
  const replay = new ReplayChatCompletionClient([])
  replay.create = async () => result as never
  replay.createStream = async function* () {
    yield result as never
    return result as never
  }
  return replay
}

describe("AssistantAgent with a model's client that", () => {
  it.each([
    [undefined],
    [null],
    [7],
    [{}],
    [{ content: "no usage" }],
    [{ content: 7, usage: { promptTokens: 1, completionTokens: 1 } }],
  ])("gives %j fails, and takes the next message", async (result) => {
    for (const modelClientStream of [false, true]) {
      const modelClient = clientThatGives(result)
      const agent = new AssistantAgent({ name: "coder", modelClient, modelClientStream })
      await expectFailure(agent.run("hi"), "MODEL_RESPONSE_INVALID", /The model client gave/)
      await expectFailure(agent.run("again"), "MODEL_RESPONSE_INVALID")
      expect(await agent.modelContext.getMessages()).toHaveLength(2)
    }
  })

  it("gives one call twice makes two, each with its own result", async () => {
    const twice = call("count")
    let calls = 0
    const tools = [toolThat("count", () => `${(calls += 1)}`)]
    const modelClient = new ReplayChatCompletionClient([[twice, twice]])
    const agent = new AssistantAgent({ name: "coder", modelClient, tools, toolLoop: "single-round" })
    expect(lastMessage(await agent.run("hi"))).toMatchObject({
      results: [{ content: "1" }, { content: "2" }],
    })
  })

  it("gives one call twice, where one may be made, makes one", async () => {
    const twice = call("count")
    const modelClient = new ReplayChatCompletionClient([[twice, twice]])
    const tools = [toolThat("count", "done")]
    const agent = new AssistantAgent({ name: "coder", modelClient, tools, maxToolCalls: 1 })
    const result = await agent.run("hi")
    expect(result.stopKind).toBe("tool-calls")
    expect(lastMessage(result)).toMatchObject({ results: [{ content: "done" }] })
  })
})
