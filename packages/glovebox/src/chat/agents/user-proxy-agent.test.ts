import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import { ComponentRegistry, GloveboxError } from "../../core/index.ts"
import { HandoffMessage, TextMessage } from "../messages/index.ts"
import type { UserInputRequest } from "./user-input.ts"
import { UserProxyAgent, type UserProxyAgentOptions } from "./user-proxy-agent.ts"

const signal = new AbortController().signal

describe("UserProxyAgent", () => {
  it("asks the person and says what they answer; the event comes first, with the request's id", async () => {
    const asked: UserInputRequest[] = []
    const agent = new UserProxyAgent({
      name: "user",
      prompt: "Well? ",
      input: async (request) => {
        asked.push(request)
        return "Yes."
      },
    })
    const question = TextMessage({ content: "Shall I?", source: "writer" })
    const stream = agent.onMessagesStream([question], { signal })
    const { value: event } = await stream.next()
    expect(event).toMatchObject({ type: "UserInputRequestedEvent", source: "user" })
    // Whoever shows the event has it before the person is asked.
    expect(asked).toEqual([])
    const { value: answer } = await stream.next()
    expect(answer).toMatchObject({
      chatMessage: { type: "TextMessage", content: "Yes.", source: "user" },
      innerMessages: [event],
    })
    expect(asked).toMatchObject([{ prompt: "Well? ", agent: "user", messages: [question] }])
    expect(event).toHaveProperty("requestId", asked[0]?.requestId)
  })

  it("can wait with its question until whoever reads the stream has shown the event", async () => {
    const shown = new Map<string, ReturnType<typeof gate>>()
    const isShown = (requestId: string): ReturnType<typeof gate> => {
      const found = shown.get(requestId) ?? gate()
      shown.set(requestId, found)
      return found
    }
    const agent = new UserProxyAgent({
      name: "user",
      input: async ({ requestId }) => {
        await isShown(requestId).promise
        return "Mine."
      },
    })
    const types: string[] = []
    for await (const item of agent.runStream("Whose?")) {
      types.push(item.type)
      if (item.type === "UserInputRequestedEvent") isShown(item.requestId).open()
    }
    expect(types).toEqual(["TextMessage", "UserInputRequestedEvent", "TextMessage", "TaskResult"])
  })

  it("hands the word back to whoever handed it over", async () => {
    const agent = new UserProxyAgent({ name: "user", input: () => "Go on." })
    expect(agent.producedMessageTypes).toContain("HandoffMessage")
    const handoff = HandoffMessage({ source: "writer", target: "user", content: "Your word." })
    const { chatMessage } = await agent.onMessages([handoff], { signal })
    expect(chatMessage).toMatchObject({
      type: "HandoffMessage",
      target: "writer",
      content: "Go on.",
      source: "user",
    })
    const later = TextMessage({ source: "critic", content: "And?" })
    expect((await agent.onMessages([handoff, later], { signal })).chatMessage.type).toBe("TextMessage")
  })

  it("refuses a word that was handed to somebody else, and asks nobody", async () => {
    let asked = false
    const agent = new UserProxyAgent({
      name: "user",
      input: () => {
        asked = true
        return ""
      },
    })
    const handoff = HandoffMessage({ source: "writer", target: "critic", content: "" })
    await expectFailure(
      agent.onMessages([handoff], { signal }),
      "AGENT_FAILED",
      /writer handed off to critic/,
    )
    expect(asked).toBe(false)
  })

  it("fails with the cause when the person cannot be asked", async () => {
    const cause = new Error("no screen")
    for (const input of [
      () => {
        throw cause
      },
      async () => Promise.reject(cause),
    ]) {
      const failure = await expectFailure(
        new UserProxyAgent({ name: "user", input }).run("?"),
        "AGENT_FAILED",
        /no screen/,
      )
      expect(failure.cause).toBe(cause)
    }
    const silent = new UserProxyAgent({ name: "user", input: (() => undefined) as never })
    await expectFailure(silent.run("?"), "AGENT_FAILED", /undefined, not a text/)
    const typed = new GloveboxError("INPUT_ENDED", "over")
    await expect(
      new UserProxyAgent({ name: "user", input: async () => Promise.reject(typed) }).run("?"),
    ).rejects.toBe(typed)
  })

  it("rejects with the reason of an abort, which the question is told of", async () => {
    const controller = new AbortController()
    const reason = new Error("enough")
    let seen: unknown
    const agent = new UserProxyAgent({
      name: "user",
      input: async (request) => {
        controller.abort(reason)
        seen = request.signal.reason
        return new Promise<never>(() => {})
      },
    })
    await expect(agent.run("?", { signal: controller.signal })).rejects.toBe(reason)
    expect(seen).toBe(reason)
  })

  it("does not wait longer than it may", async () => {
    const agent = new UserProxyAgent({ name: "user", input: async () => new Promise(() => {}), timeout: 1 })
    await expectFailure(agent.run("?"), "TURN_TIMEOUT", /user did not answer within 1ms/)
  })

  it("refuses options that it does not know", () => {
    const given = { name: "user", input_func: () => "" } as unknown as UserProxyAgentOptions
    expect(failureOf(() => new UserProxyAgent(given))).toMatch(/OPTION_INVALID.*did you mean input\?/)
  })

  it("is written down when it asks at the terminal, and not with a function of one's own", () => {
    const registry = new ComponentRegistry([UserProxyAgent.definition])
    const model = new UserProxyAgent({
      name: "user",
      description: "Me.",
      prompt: "> ",
      timeout: "5m",
    }).toComponent()
    expect(model.config).toEqual({ name: "user", description: "Me.", prompt: "> ", timeout: 300_000 })
    expect(registry.load(model, UserProxyAgent).toComponent()).toEqual(model)
    const config = { name: "user", description: "A human user", input_func: null }
    expect(registry.load({ provider: "autogen_agentchat.agents.UserProxyAgent", config })).toBeInstanceOf(
      UserProxyAgent,
    )
    expect(failureOf(() => new UserProxyAgent({ name: "user", input: () => "" }).toComponent())).toMatch(
      /COMPONENT_INVALID: input of user/,
    )
  })
})
