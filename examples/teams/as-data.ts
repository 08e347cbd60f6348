// A team as data: JSON that can be kept in a file, reviewed, and loaded again. Functions cannot be written down.
//   npx tsx examples/teams/as-data.ts
import { AssistantAgent, MaxMessageTermination, RoundRobinGroupChat, answerText } from "glovebox"
import { defaultRegistry } from "glovebox/components"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel(["Glass is made of sand."]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const writer = new AssistantAgent({ name: "writer", modelClient, systemMessage: "Write one sentence." })
const team = new RoundRobinGroupChat({
  participants: [writer],
  terminationCondition: new MaxMessageTermination(2),
})

const text = JSON.stringify(team.toComponent(), undefined, 2)
console.log(JSON.parse(text).provider)

await using loaded = defaultRegistry().load(JSON.parse(text), RoundRobinGroupChat)
console.log(answerText(await loaded.run("What is glass made of?")))

/* Prints, with the scripted model:
glovebox.teams.RoundRobinGroupChat
Glass is made of sand.
*/
