import { AssistantAgent, RemoteChatAgent, RoundRobinGroupChat, serveChatAgent, toText } from "glovebox/chat"
import { agentId } from "glovebox/core"
import { ReplayChatCompletionClient } from "glovebox/models/replay"
import { GrpcWorkerAgentRuntime } from "glovebox/runtimes/grpc"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startAutogenProgram } from "./autogen-program.ts"
import { disposeAll } from "./dispose-all.ts"
import { type HostKind, type StartedHost, startHost } from "./hosts.ts"
import type { LineProgram } from "./line-program.ts"

interface Said {
  readonly source: string
  readonly content: string
}

describe.each<HostKind>(["autogen", "glovebox"])("on the host of %s", (kind) => {
  let host: StartedHost
  let py: LineProgram
  let worker: GrpcWorkerAgentRuntime

  beforeAll(async () => {
    host = await startHost(kind)
    py = startAutogenProgram("chat_worker.py", host.address)
    worker = new GrpcWorkerAgentRuntime({ hostAddress: host.address })
    await worker.start()
    await py.events.take({ event: "ready" })
  })

  afterAll(async () => {
    await disposeAll(worker, py, host)
  })

  test("AutoGen's AssistantAgent is in a team with ours", async () => {
    const model = new ReplayChatCompletionClient(["What is a plum?", "Deal."])
    const buyer = new AssistantAgent({ name: "buyer", modelClient: model, description: "Buys." })
    const clerk = new RemoteChatAgent({ name: "clerk", runtime: worker, agentId: agentId("clerk", "shop") })
    const team = new RoundRobinGroupChat({ participants: [buyer, clerk], maxTurns: 4, runtime: worker })
    const { messages } = await team.run("Buy a plum.")
    expect(messages.map((message) => `${message.source} ${message.type}: ${toText(message)}`)).toEqual([
      "user TextMessage: Buy a plum.",
      "buyer TextMessage: What is a plum?",
      'clerk ToolCallRequestEvent: price_of({"fruit": "plum"})',
      "clerk ToolCallExecutionEvent: plum costs 3",
      "clerk ToolCallSummaryMessage: plum costs 3",
      "buyer TextMessage: Deal.",
      "clerk TextMessage: Agreed.",
    ])
    expect(messages[2]?.modelsUsage).toEqual({ promptTokens: 11, completionTokens: 7 })
    // Each heard what the other said.
    const asked = [await py.events.take({ event: "asked" }), await py.events.take({ event: "asked" })]
    expect(asked[0]?.["contents"]).toEqual(expect.arrayContaining(["Buy a plum.", "What is a plum?"]))
    expect(asked[1]?.["contents"]).toEqual(expect.arrayContaining(["Deal."]))
    expect(JSON.stringify(model.createCalls[1]?.messages)).toContain("plum costs 3")
    await team.reset()
    await team.close()
  })

  test("our AssistantAgent is in a team of AutoGen's", async () => {
    const model = new ReplayChatCompletionClient(["Roses are red.", "Violets are blue."])
    const made: AssistantAgent[] = []
    await serveChatAgent(worker, "poet", () => {
      const poet = new AssistantAgent({ name: "poet", modelClient: model, description: "Writes." })
      made.push(poet)
      return poet
    })
    const said = (await py.call("run_team", { agent: "poet/1", task: "A poem." })) as readonly Said[]
    expect(said.map(({ source, content }) => `${source}: ${content}`)).toEqual([
      "user: A poem.",
      "poet: Roses are red.",
      "critic: It rhymes.",
      "poet: Violets are blue.",
      "critic: Still does.",
    ])
    expect(JSON.stringify(model.createCalls[1]?.messages)).toContain("It rhymes.")
    expect(made).toHaveLength(1)
  })
})
