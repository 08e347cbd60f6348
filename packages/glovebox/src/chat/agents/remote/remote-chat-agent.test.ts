import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { ClosureAgent, SingleThreadedAgentRuntime, agentId } from "../../../core/index.ts"
import { WireRuntime } from "../../../core/wire-runtime.test-kit.ts"
import { lines } from "../../clerk.test-kit.ts"
import { ScriptedAgent, untilAborted } from "../../scripted-agent.test-kit.ts"
import { RemoteChatAgent, serveChatAgent } from "./index.ts"
import { describeRemoteAgentsOn } from "./remote-agents-on-a-runtime.test-kit.ts"
import { RemoteChatResponse, RemoteChatTurn } from "./remote-chat-messages.ts"

describeRemoteAgentsOn("a wire", async () => {
  const runtime = new WireRuntime()
  return { runtime, far: runtime, [Symbol.asyncDispose]: async () => runtime[Symbol.asyncDispose]() }
})

describeRemoteAgentsOn("one process", async () => {
  const runtime = new SingleThreadedAgentRuntime()
  runtime.start()
  return { runtime, far: runtime, [Symbol.asyncDispose]: async () => runtime.close() }
})

describe("RemoteChatAgent", () => {
  it("takes the answer of an agent in another language, which tells all at the end", async () => {
    await using runtime = new WireRuntime()
    await runtime.register(
      "python",
      () =>
        new ClosureAgent([RemoteChatTurn], ({ messages }) =>
          // As AutoGen writes its messages: fields that are not known here are left alone.
          RemoteChatResponse({
            message: {
              type: "TextMessage",
              source: "python",
              content: `${messages.length} heard`,
              models_usage: null,
              metadata: {},
            },
            items: [{ type: "ThoughtEvent", id: "1", source: "python", content: "hm", metadata: {} }],
          }),
        ),
    )
    await using agent = new RemoteChatAgent({ name: "python", runtime, agentId: agentId("python") })
    expect(lines(await agent.run("hi"))).toEqual(["user: hi", "python: hm", "python: 1 heard"])
  })

  it("refuses what is no answer", async () => {
    await using runtime = new WireRuntime()
    await runtime.register(
      "odd",
      () => new ClosureAgent([RemoteChatTurn], () => RemoteChatResponse({ message: { type: "Odd" } })),
    )
    await using agent = new RemoteChatAgent({ name: "odd", runtime, agentId: agentId("odd") })
    await expectFailure(agent.run("hi"), "MESSAGE_INVALID", /Odd/)
  })

  it("gives up when a turn takes longer than it may", async () => {
    await using runtime = new WireRuntime()
    await serveChatAgent(
      runtime,
      "slow",
      () =>
        new ScriptedAgent(
          "slow",
          untilAborted(() => {}),
        ),
    )
    const options = { name: "slow", runtime, agentId: agentId("slow"), timeout: 20 }
    await using agent = new RemoteChatAgent(options)
    await expectFailure(agent.run("hi"), "SEND_TIMEOUT")
  })

  it("refuses options that are none, and serves nothing that is no chat agent", async () => {
    await using runtime = new WireRuntime()
    const make = (options: object): unknown =>
      new RemoteChatAgent({ name: "a", runtime, agentId: agentId("a"), ...options })
    expect(failureOf(() => make({ agentId: "a/b" }))).toMatch(/^OPTION_INVALID: .*agentId/)
    expect(failureOf(() => make({ runtime: {} }))).toMatch(/^OPTION_INVALID: .*runtime/)
    expect(failureOf(() => make({ timeOut: 1 }))).toMatch(/did you mean timeout/)
    await serveChatAgent(runtime, "thing", () => ({}) as never)
    await using agent = new RemoteChatAgent({ name: "a", runtime, agentId: agentId("thing") })
    await expectFailure(agent.run("hi"), "AGENT_CREATION_FAILED", /no chat agent/)
  })
})
