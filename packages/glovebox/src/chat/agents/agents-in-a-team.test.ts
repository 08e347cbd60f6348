import { describe, expect, it } from "vitest"
import { ReplayChatCompletionClient } from "../../models/replay/index.ts"
import type { ChatMessage } from "../messages/index.ts"
import { TextMessage } from "../messages/index.ts"
import { type Response, response } from "../task/index.ts"
import { RoundRobinGroupChat } from "../teams/index.ts"
import { BaseChatAgent } from "./base-chat-agent.ts"
import { ENDLESS, FakeExecutor, failing, python } from "./code-executor/fake-executor.test-kit.ts"
import { CodeExecutorAgent } from "./code-executor/index.ts"
import { MessageFilterAgent } from "./message-filter-agent.ts"
import { UserProxyAgent } from "./user-proxy-agent.ts"

/** Says one thing after another. */
class Speaker extends BaseChatAgent {
  readonly #lines: string[]
  readonly heard: string[][] = []

  constructor(name: string, ...lines: readonly string[]) {
    super(name, "Speaks.")
    this.#lines = [...lines]
  }

  override async onMessages(messages: readonly ChatMessage[]): Promise<Response> {
    this.heard.push(messages.map(({ source }) => source))
    return response(TextMessage({ content: this.#lines.shift() ?? "Nothing.", source: this.name }))
  }
}

describe("a team", () => {
  it("has one write code, and another run it", async () => {
    const executor = new FakeExecutor(failing("NameError"), "42\n")
    const writer = new Speaker("writer", python("prin(42)"), python("print(42)"))
    const runner = new CodeExecutorAgent({ name: "runner", codeExecutor: executor, sources: ["writer"] })
    const team = new RoundRobinGroupChat({ participants: [writer, runner], maxTurns: 4 })
    const { messages } = await team.run(python("from_the_task()"))
    expect(executor.ran.flat().map(({ code }) => code)).toEqual(["prin(42)", "print(42)"])
    expect(messages.at(-1)).toMatchObject({ source: "runner", content: "42" })
    expect(messages.filter(({ type }) => type === "CodeExecutionEvent")).toHaveLength(2)
  })

  it("gives an agent that was cancelled its messages again, and it takes them once", async () => {
    const controller = new AbortController()
    const modelClient = new ReplayChatCompletionClient([python("x"), "Fine."])
    const coder = new CodeExecutorAgent({
      name: "coder",
      codeExecutor: new FakeExecutor(ENDLESS),
      modelClient,
    })
    const team = new RoundRobinGroupChat({ participants: [coder], maxTurns: 1 })
    const reason = new Error("enough")
    const run = (async () => {
      for await (const item of team.runStream("Go.", { signal: controller.signal })) {
        if (item.type === "CodeOutputEvent") controller.abort(reason)
      }
    })()
    await expect(run).rejects.toBe(reason)
    const { messages } = await team.run()
    expect(messages.at(-1)).toMatchObject({ content: "Fine." })
    const told = modelClient.createCalls.at(-1)?.messages ?? []
    expect(told.filter(({ content }) => content === "Go.")).toHaveLength(1)
  })

  it("goes on after an agent that is wrapped under another name", async () => {
    const inner = new Speaker("inner", "One.", "Two.")
    const wrapped = new MessageFilterAgent({
      name: "outer",
      wrappedAgent: inner,
      filter: { perSource: [{ source: "other", position: "last", count: 1 }] },
    })
    const team = new RoundRobinGroupChat({
      participants: [wrapped, new Speaker("other", "Hm.")],
      maxTurns: 3,
    })
    const { messages } = await team.run("Go.")
    expect(messages.map(({ source }) => source)).toEqual(["user", "inner", "other", "inner"])
    expect(inner.heard).toEqual([[], ["other"]])
  })

  it("shows that a person is asked before they are", async () => {
    const order: string[] = []
    const user = new UserProxyAgent({
      name: "person",
      input: () => {
        order.push("asked")
        return "Yes."
      },
    })
    const team = new RoundRobinGroupChat({ participants: [user], maxTurns: 1 })
    for await (const item of team.runStream("Well?")) order.push(item.type)
    expect(order).toEqual(["TextMessage", "UserInputRequestedEvent", "asked", "TextMessage", "TaskResult"])
  })
})
