import { describe, expect, it } from "vitest"
import { WireRuntime } from "../../core/wire-runtime.test-kit.ts"
import { lines } from "../clerk.test-kit.ts"
import { ScriptedAgent } from "../scripted-agent.test-kit.ts"
import { RoundRobinGroupChat } from "./index.ts"
import { describeTeamsOn } from "./teams-on-a-runtime.test-kit.ts"

describeTeamsOn("a wire", async () => {
  const runtime = new WireRuntime()
  return { runtime, far: runtime, [Symbol.asyncDispose]: async () => runtime[Symbol.asyncDispose]() }
})

describe("a team on a wire", () => {
  it("is carried by it whole, and leaves nothing behind", async () => {
    await using runtime = new WireRuntime()
    const team = new RoundRobinGroupChat({ participants: [new ScriptedAgent("a")], maxTurns: 1, runtime })
    await team.run("hi")
    await team.reset()
    expect([...runtime.carried].toSorted()).toEqual([
      "GroupChatAgentResponse",
      "GroupChatMessage",
      "GroupChatRequestPublish",
      "GroupChatReset",
      "GroupChatStart",
      "GroupChatTermination",
    ])
    await team.close()
    expect(await runtime.saveState()).toMatchObject({ agents: {} })
  })

  it("may take longer than a send of the runtime usually may", async () => {
    await using runtime = new WireRuntime({ sendTimeoutMs: 20 })
    const slow = new ScriptedAgent("slow", async () => {
      await new Promise((resolve) => {
        setTimeout(resolve, 60)
      })
      return "there"
    })
    await using team = new RoundRobinGroupChat({ participants: [slow], maxTurns: 1, runtime })
    expect(lines(await team.run("hi"))).toEqual(["user: hi", "slow: there"])
  })
})
