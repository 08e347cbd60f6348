import { describe, expect, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { ReplayChatCompletionClient, type ReplayResponse } from "../../../models/replay/index.ts"
import { toText } from "../../messages/index.ts"
import { AssistantAgent, type AssistantAgentOptions } from "./index.ts"
import { call, lastMessage, shown, toolThat } from "./assistant.test-kit.ts"

const Weather = z.object({ city: z.string(), degrees: z.number() }).meta({ title: "Weather" })
const OSLO = JSON.stringify({ city: "Oslo", degrees: 4 })

function agent(
  script: readonly ReplayResponse[],
  options: Partial<AssistantAgentOptions> = {},
): { assistant: AssistantAgent; modelClient: ReplayChatCompletionClient } {
  const modelClient = new ReplayChatCompletionClient(script)
  const assistant = new AssistantAgent({ name: "coder", modelClient, outputContentType: Weather, ...options })
  return { assistant, modelClient }
}

describe("AssistantAgent with outputContentType", () => {
  it("answers with what fits the schema", async () => {
    const { assistant, modelClient } = agent([OSLO], { outputContentTypeFormat: "{degrees} in {city}" })
    const last = lastMessage(await assistant.run("Oslo?"))
    expect(last).toMatchObject({
      type: "StructuredMessage",
      content: { city: "Oslo", degrees: 4 },
      contentName: "Weather",
    })
    expect(last && toText(last)).toBe("4 in Oslo")
    expect(modelClient.createCalls[0]?.options.jsonOutput).toBe(Weather)
    expect(assistant.producedMessageTypes).toEqual(["StructuredMessage"])
  })

  it.each(["until-text", "single-round"] as const)(
    "keeps its format also after tools: %s",
    async (toolLoop) => {
      const { assistant } = agent([[call("look")], OSLO], {
        tools: [toolThat("look", "cold")],
        toolLoop,
        outputContentTypeFormat: "{degrees} in {city}",
      })
      const last = lastMessage(await assistant.run("Oslo?"))
      expect(last && toText(last)).toBe("4 in Oslo")
    },
  )

  it("gives the model one chance to correct itself, and keeps only what fits", async () => {
    const { assistant, modelClient } = agent(['{"city":"Oslo"}', OSLO, OSLO])
    const result = await assistant.run("Oslo?")
    expect(lastMessage(result)).toMatchObject({ content: { city: "Oslo", degrees: 4 } })
    expect(shown(modelClient, 1).slice(1)).toEqual([
      { type: "AssistantMessage", content: '{"city":"Oslo"}', source: "coder" },
      { type: "UserMessage", content: expect.stringContaining("degrees"), source: "user" },
    ])
    expect(result.usage).toEqual(modelClient.actualUsage())
    await assistant.run("And now?")
    expect(shown(modelClient, 2).map(({ content }) => content)).toEqual(["Oslo?", OSLO, "And now?"])
  })

  it("fails when it is wrong twice, with no more of the answer than fits a message", async () => {
    const { assistant } = agent(["It is cold.", `${"x".repeat(500)}END`, OSLO])
    const error = await expectFailure(
      assistant.run("Oslo?"),
      "OUTPUT_INVALID",
      /does not fit Weather: it is no JSON/,
    )
    expect(error.message).not.toContain("END")
    expect(lastMessage(await assistant.run("Again"))).toMatchObject({ type: "StructuredMessage" })
  })

  it("takes JSON Schema", async () => {
    const outputContentType = {
      name: "weather",
      schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    }
    const { assistant } = agent(['{"town":1}', '{"city":"Oslo"}'], { outputContentType })
    expect(lastMessage(await assistant.run("Oslo?"))).toMatchObject({
      content: { city: "Oslo" },
      contentName: "weather",
    })
  })

  it("refuses a schema that makes of the answer what no message can hold", async () => {
    const outputContentType = z.object({ at: z.string().transform((text) => new Date(text)) })
    const { assistant } = agent(['{"at":"2024-01-01"}'], { outputContentType })
    await expectFailure(assistant.run("When?"), "OUTPUT_INVALID", /at is a Date, which JSON cannot hold/)
  })

  it("spends no tokens on a correction when they are used up", async () => {
    const { assistant, modelClient } = agent(["no", OSLO], { maxTokens: 1 })
    await expectFailure(assistant.run("Oslo?"), "OUTPUT_INVALID")
    expect(modelClient.createCalls).toHaveLength(1)
  })
})
