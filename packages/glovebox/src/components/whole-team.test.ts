import { describe, expect, it } from "vitest"
import { z } from "zod"
import {
  AgentTool,
  AssistantAgent,
  type BaseGroupChat,
  CodeExecutorAgent,
  DiGraphBuilder,
  GraphFlow,
  HandoffTermination,
  MagenticOneGroupChat,
  MaxMessageTermination,
  MessageFilterAgent,
  RoundRobinGroupChat,
  SelectorGroupChat,
  SocietyOfMindAgent,
  Swarm,
  TeamTool,
  TextMentionTermination,
  TimeoutTermination,
  UserProxyAgent,
  handoff,
  toText,
} from "../chat/index.ts"
import { roundTrip } from "../core/components/round-trip.test-kit.ts"
import { WasmCodeExecutor } from "../executors/wasm/index.ts"
import { BufferedChatCompletionContext, ListMemory } from "../memory/index.ts"
import { ReplayChatCompletionClient } from "../models/replay/index.ts"
import { tool } from "../tools/index.ts"
import { defaultRegistry } from "./index.ts"

const weather = tool({
  name: "weather",
  description: "The weather in a city",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `rain in ${city}`,
})
const registry = defaultRegistry({ tools: [weather] })
const model = (...answers: string[]): ReplayChatCompletionClient => new ReplayChatCompletionClient(answers)

function assistant(name: string, ...answers: string[]): AssistantAgent {
  return new AssistantAgent({
    name,
    modelClient: model(...answers),
    tools: [weather],
    handoffs: [handoff({ target: "user" })],
    memory: [new ListMemory({ contents: [{ content: "likes tea" }] })],
    modelContext: new BufferedChatCompletionContext({ bufferSize: 5 }),
    systemMessage: `You are ${name}.`,
  })
}

const teams: Record<string, () => BaseGroupChat> = {
  RoundRobinGroupChat: () =>
    new RoundRobinGroupChat({
      participants: [
        assistant("writer", "a poem"),
        new CodeExecutorAgent({ name: "runner", codeExecutor: new WasmCodeExecutor() }),
        new MessageFilterAgent({
          name: "filtered",
          wrappedAgent: assistant("inner"),
          filter: { perSource: [{ source: "writer", position: "last", count: 1 }] },
        }),
      ],
      terminationCondition: new MaxMessageTermination(2)
        .and(new TextMentionTermination("poem", { sources: ["writer"] }))
        .or(new TimeoutTermination("1m")),
      turnTimeout: "30s",
    }),
  SelectorGroupChat: () =>
    new SelectorGroupChat({
      participants: [
        assistant("writer", "a poem"),
        assistant("critic"),
        new UserProxyAgent({ name: "user" }),
      ],
      modelClient: model("writer"),
      maxTurns: 1,
    }),
  Swarm: () =>
    new Swarm({
      participants: [assistant("writer", "a poem")],
      terminationCondition: new HandoffTermination("user"),
      maxTurns: 1,
    }),
  GraphFlow: () => {
    const [writer, critic] = [assistant("writer", "a poem"), assistant("critic", "OK")]
    const graph = new DiGraphBuilder().addEdge(writer, critic).setEntryPoint(writer)
    return new GraphFlow({ graph })
  },
  MagenticOneGroupChat: () =>
    new MagenticOneGroupChat({ participants: [assistant("writer")], modelClient: model(), maxTurns: 3 }),
  nested: () =>
    new RoundRobinGroupChat({
      participants: [
        new SocietyOfMindAgent({
          name: "society",
          modelClient: model("a poem"),
          team: new RoundRobinGroupChat({ participants: [assistant("inside", "draft")], maxTurns: 1 }),
        }),
        new AssistantAgent({
          name: "boss",
          modelClient: model(),
          tools: [
            new AgentTool({ agent: assistant("helper") }),
            new TeamTool({
              name: "crew",
              description: "A crew",
              team: new RoundRobinGroupChat({ participants: [assistant("member")], maxTurns: 1 }),
            }),
          ],
        }),
      ],
      maxTurns: 1,
    }),
}

describe("a whole team in data", () => {
  it.each(Object.entries(teams))(
    "%s is the same when it is written, read and written again",
    (_name, make) => {
      const team = make()
      expect(roundTrip(registry, team)).toBeInstanceOf(team.constructor)
    },
  )

  it.each(["RoundRobinGroupChat", "SelectorGroupChat", "Swarm", "nested"] as const)(
    "%s works when it is made from data",
    async (name) => {
      const data: unknown = JSON.parse(JSON.stringify(teams[name]?.().toComponent()))
      await using team = registry.load(data) as BaseGroupChat
      const { messages } = await team.run("Write a poem.")
      expect(toText(messages.at(-1) as never)).toBe("a poem")
    },
  )
})
