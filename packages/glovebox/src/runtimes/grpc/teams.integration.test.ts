import { describeRemoteAgentsOn } from "../../chat/agents/remote/remote-agents-on-a-runtime.test-kit.ts"
import { type TeamPlace, describeTeamsOn } from "../../chat/teams/teams-on-a-runtime.test-kit.ts"
import { GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntimeHost } from "./index.ts"

/** A team at one worker, and agents that it reaches from afar at the other. */
async function twoWorkers(): Promise<TeamPlace> {
  const host = new GrpcWorkerAgentRuntimeHost({ address: "127.0.0.1:0" })
  await host.start()
  const [runtime, far] = [host, host].map(
    ({ address }) => new GrpcWorkerAgentRuntime({ hostAddress: address }),
  ) as [GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntime]
  await Promise.all([runtime.start(), far.start()])
  return {
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
