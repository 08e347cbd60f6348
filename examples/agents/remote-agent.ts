// A team with an agent that lives elsewhere: at another worker, which could be another process or machine.
//   npx tsx examples/agents/remote-agent.ts
import { AssistantAgent, RemoteChatAgent, RoundRobinGroupChat, agentId, serveChatAgent } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntimeHost } from "glovebox/runtimes/grpc"
import { scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel(["Snow falls on the sea.", "And the sea says nothing."]) ??
  new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

await using host = new GrpcWorkerAgentRuntimeHost({ address: "127.0.0.1:0" })
await host.start()

// There:
const there = new GrpcWorkerAgentRuntime({ hostAddress: host.address })
await serveChatAgent(there, "poet", () => new AssistantAgent({ name: "poet", modelClient }))
await there.start()

// Here:
const here = new GrpcWorkerAgentRuntime({ hostAddress: host.address })
await here.start()
const poet = new RemoteChatAgent({
  name: "poet",
  description: "Writes the first line.",
  runtime: here,
  agentId: agentId("poet", "poem-7"),
})
const other = new AssistantAgent({ name: "other", modelClient, systemMessage: "Write the second line." })
const team = new RoundRobinGroupChat({ participants: [poet, other], maxTurns: 2 })

for await (const item of team.runStream("Two lines, please.")) {
  if (item.type === "TextMessage") console.log(`${item.source}: ${item.content}`)
}

await team.close()
await poet.close()
await here.close()
await there.close()

/* Prints, with the scripted model:
user: Two lines, please.
poet: Snow falls on the sea.
other: And the sea says nothing.
*/
