import { describe, expect, it } from "vitest"
import { RemoteChatAgent, serveChatAgent } from "../../chat/agents/index.ts"
import { describeRemoteAgentsOn } from "../../chat/agents/remote/remote-agents-on-a-runtime.test-kit.ts"
import { type TeamPlace, describeTeamsOn } from "../../chat/teams/teams-on-a-runtime.test-kit.ts"
import { lines } from "../../chat/clerk.test-kit.ts"
import { ScriptedAgent, untilAborted } from "../../chat/scripted-agent.test-kit.ts"
import { RoundRobinGroupChat } from "../../chat/teams/index.ts"
import { gate } from "../../core/gate.test-kit.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { GloveboxError, agentId } from "../../core/index.ts"
import { GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntimeHost } from "./index.ts"

interface Two extends TeamPlace {
  readonly host: GrpcWorkerAgentRuntimeHost
  readonly far: GrpcWorkerAgentRuntime
}

/** A team at one worker, and agents that it reaches from afar at the other. */
async function twoWorkers(): Promise<Two> {
  const host = new GrpcWorkerAgentRuntimeHost({ address: "127.0.0.1:0" })
  await host.start()
  const [runtime, far] = [host, host].map(
    ({ address }) => new GrpcWorkerAgentRuntime({ hostAddress: address }),
  ) as [GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntime]
  await Promise.all([runtime.start(), far.start()])
  return {
    host,
    runtime,
    far,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([runtime.close(), far.close()])
      await host.stop({ graceMs: 0 })
    },
  }
}

describeTeamsOn("a host and two workers", twoWorkers)
describeRemoteAgentsOn("a host and two workers", twoWorkers)

describe("a team whose worker loses the host", () => {
  it("fails in time, typed, and leaves nobody at work", async () => {
    await using place = await twoWorkers()
    const began = gate()
    const stopped = gate()
    const agent = new ScriptedAgent("a", (context) => {
      context.signal.addEventListener("abort", stopped.open)
      return untilAborted(began.open)(context)
    })
    const { runtime } = place
    const team = new RoundRobinGroupChat({ participants: [agent], maxTurns: 1, runtime })
    const run = team.run("hi").catch((error: unknown) => error)
    await began.promise
    await place.host.stop({ graceMs: 0 })
    const error = await run
    expect(GloveboxError.is(error) && error.code).toMatch(/^(CONNECTION_LOST|HOST_UNAVAILABLE|AGENT_FAILED)$/)
    await stopped.promise
    await team.close()
  })
})

describe("an agent elsewhere whose worker leaves", () => {
  it("fails in its turn, and is built again where it is served too", async () => {
    await using place = await twoWorkers()
    const { runtime, far, host } = place
    const began = gate()
    await serveChatAgent(far, "far", () => new ScriptedAgent("far", untilAborted(began.open)))
    const remote = new RemoteChatAgent({ name: "far", runtime, agentId: agentId("far", "1") })
    await using team = new RoundRobinGroupChat({ participants: [remote], maxTurns: 1, runtime })
    const run = team.run("hi")
    const failed = expectFailure(run, "AGENT_FAILED", /^far failed in its turn: /)
    await began.promise
    await far.close()
    await failed
    await using third = new GrpcWorkerAgentRuntime({ hostAddress: host.address })
    await serveChatAgent(third, "far", () => new ScriptedAgent("far"))
    await third.start()
    expect(lines(await team.run("again"))).toEqual(["user: again", "far: far1"])
    await remote.close()
  })
})
