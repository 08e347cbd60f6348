// A team in a team: it speaks as one participant, and everybody hears what its members say.
//   npx tsx examples/teams/nested.ts
import { AssistantAgent, RoundRobinGroupChat } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel([
    "Glass is made of sand.",
    "Of quartz sand, to be exact.",
    "Le verre est fait de sable de quartz.",
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const writer = new AssistantAgent({ name: "writer", modelClient, systemMessage: "Write one sentence." })
const critic = new AssistantAgent({ name: "critic", modelClient, systemMessage: "Make it more exact." })
const translator = new AssistantAgent({
  name: "translator",
  modelClient,
  systemMessage: "Translate into French.",
})

const authors = new RoundRobinGroupChat({ name: "authors", participants: [writer, critic], maxTurns: 2 })
await using team = new RoundRobinGroupChat({ participants: [authors, translator], maxTurns: 2 })

for await (const item of team.runStream("What is glass made of?")) {
  if (item.type === "TextMessage") console.log(`${item.source}: ${item.content}`)
}

/* Prints, with the scripted model:
user: What is glass made of?
writer: Glass is made of sand.
critic: Of quartz sand, to be exact.
translator: Le verre est fait de sable de quartz.
*/
