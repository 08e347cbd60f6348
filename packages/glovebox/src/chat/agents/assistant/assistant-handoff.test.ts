import { describe, expect, it } from "vitest"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { ReplayChatCompletionClient, type ReplayResponse } from "../../../models/replay/index.ts"
import { AssistantAgent, type AssistantAgentOptions, handoff } from "./index.ts"
import { call, lastMessage, openCalls, shown, toolThat, typesOf } from "./assistant.test-kit.ts"

function agent(
  script: readonly ReplayResponse[],
  options: Omit<AssistantAgentOptions, "name" | "modelClient"> = {},
): { assistant: AssistantAgent; modelClient: ReplayChatCompletionClient } {
  const modelClient = new ReplayChatCompletionClient(script)
  const handoffs = ["reviewer", handoff({ target: "user", name: "ask_user", message: "Please decide." })]
  return { modelClient, assistant: new AssistantAgent({ name: "coder", modelClient, handoffs, ...options }) }
}

describe("AssistantAgent hands off", () => {
  it("to whom the model names, in the handoff's words", async () => {
    const { assistant, modelClient } = agent([[call("ask_user")]])
    const result = await assistant.run("Go")
    expect(result).toMatchObject({ stopKind: "handoff", stopReason: "coder handed off to user." })
    expect(lastMessage(result)).toMatchObject({
      type: "HandoffMessage",
      target: "user",
      content: "Please decide.",
      context: [],
    })
    expect(modelClient.createCalls[0]?.options.tools).toMatchObject([
      { name: "transfer_to_reviewer" },
      { name: "ask_user" },
    ])
    expect(openCalls(await assistant.modelContext.getMessages())).toEqual([])
    expect(result.usage).toEqual(modelClient.actualUsage())
  })

  it("to the first of several, with the other calls of that round", async () => {
    const look = call("look", {}, "l1")
    const { assistant } = agent(
      [{ content: [call("transfer_to_reviewer"), look, call("ask_user")], thought: "Two things." }],
      { tools: [toolThat("look", "seen")] },
    )
    const result = await assistant.run("Go")
    expect(lastMessage(result)).toMatchObject({
      target: "reviewer",
      context: [
        { type: "AssistantMessage", content: [look], thought: "Two things.", source: "coder" },
        {
          type: "FunctionExecutionResultMessage",
          content: [{ callId: "l1", name: "look", content: "seen", isError: false }],
        },
      ],
    })
    const results = result.messages.find((item) => item.type === "ToolCallExecutionEvent")
    expect(results?.content.map(({ isError }) => isError)).toEqual([false, false, true])
    expect(openCalls(await assistant.modelContext.getMessages())).toEqual([])
  })

  it("with the thought that led to it, when there is nothing else", async () => {
    const { assistant } = agent([{ content: [call("ask_user")], thought: "Too risky." }])
    expect(lastMessage(await assistant.run("Go"))).toMatchObject({
      context: [{ type: "AssistantMessage", content: "Too risky.", source: "coder" }],
    })
  })

  it.each(["{oops", '"now"', "7"])(
    "not by a call whose arguments are %s, which is told to the model",
    async (args) => {
      const { assistant, modelClient } = agent([[call("ask_user", args)], "I do it myself."])
      const result = await assistant.run("Go")
      expect(lastMessage(result)).toMatchObject({ type: "TextMessage", content: "I do it myself." })
      expect(shown(modelClient, 1).at(-1)?.content).toMatchObject([{ name: "ask_user", isError: true }])
    },
  )

  it.each(["", "null", "{}", '{"reason":"stuck"}'])("by a call whose arguments are %j", async (args) => {
    const { assistant } = agent([[call("ask_user", args)]])
    expect(lastMessage(await assistant.run("Go"))).toMatchObject({ type: "HandoffMessage" })
  })

  it("also when nothing more may be called", async () => {
    const { assistant } = agent([[call("look")], [call("look"), call("ask_user")]], {
      tools: [toolThat("look", "seen")],
      maxToolRounds: 1,
    })
    const result = await assistant.run("Go")
    expect(result.stopKind).toBe("handoff")
    expect(lastMessage(result)).toMatchObject({
      context: [{}, { content: [{ content: expect.stringContaining("Not called") }] }],
    })
  })

  it("and goes on with the conversation when the word comes back", async () => {
    const { assistant, modelClient } = agent([[call("ask_user", {}, "h1")], "Thanks."])
    await assistant.run("Go")
    await assistant.run("Do it")
    expect(typesOf(shown(modelClient, 1) as never)).toEqual([
      "UserMessage",
      "AssistantMessage",
      "FunctionExecutionResultMessage",
      "UserMessage",
    ])
  })
})

describe("handoff", () => {
  it("has a name, a description and a message by its target", () => {
    expect(handoff({ target: "Reviewer" })).toEqual({
      target: "Reviewer",
      name: "transfer_to_reviewer",
      description: expect.stringContaining("Reviewer"),
      message: expect.stringContaining("Reviewer"),
    })
  })

  it("is refused when no model could call it", () => {
    expect(failureOf(() => handoff({ target: "My Agent" }))).toMatch(
      /^OPTION_INVALID: "transfer_to_my agent" is no name .* handoff\(\{ target, name \}\)/,
    )
    expect(failureOf(() => handoff({ target: "a", name: "b c" }))).toMatch(/^OPTION_INVALID/)
    expect(failureOf(() => handoff({ target: "" }))).toMatch(/target: is empty/)
    expect(failureOf(() => handoff({ target: "a", mesage: "b" } as never))).toMatch(/did you mean message/)
  })
})
