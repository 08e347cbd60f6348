// A group chat in which everybody speaks in turn, until the critic approves.
//   npx tsx examples/teams/round-robin.ts
import {
  AssistantAgent,
  Console,
  MaxMessageTermination,
  RoundRobinGroupChat,
  TextMentionTermination,
} from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel([
    "Sand, and fire, and breath.",
    "Say something about light.",
    "Sand, and fire, and breath: a wall for the wind, and none for the light.",
    "APPROVED",
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const writer = new AssistantAgent({ name: "writer", modelClient, systemMessage: "Write short poems." })
const critic = new AssistantAgent({
  name: "critic",
  modelClient,
  systemMessage: "Say in one sentence what to change. When the poem is good, say APPROVED.",
})

const team = new RoundRobinGroupChat({
  participants: [writer, critic],
  terminationCondition: new TextMentionTermination("APPROVED", { sources: ["critic"] }).or(
    new MaxMessageTermination(10),
  ),
})

await Console(team.runStream("A poem about glass, please."))
await team.close()

/* Prints, with the scripted model:
user (TextMessage)
  A poem about glass, please.
writer (TextMessage)
  Sand, and fire, and breath.
critic (TextMessage)
  Say something about light.
writer (TextMessage)
  Sand, and fire, and breath: a wall for the wind, and none for the light.
critic (TextMessage)
  APPROVED
= stopped (condition): critic said "APPROVED".
*/
