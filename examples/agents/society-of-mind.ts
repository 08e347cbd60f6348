// A team behind one agent: others hear its answer only.
//   npx tsx examples/agents/society-of-mind.ts
import { AssistantAgent, RoundRobinGroupChat, SocietyOfMindAgent } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel([
    "Glass is a liquid that has forgotten to flow.",
    "It is not a liquid. Say that it is solid.",
    "Glass is a solid without crystals.",
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const writer = new AssistantAgent({ name: "writer", modelClient, systemMessage: "Write one sentence." })
const critic = new AssistantAgent({
  name: "critic",
  modelClient,
  systemMessage: "Correct what is wrong, briefly.",
})
const society = new SocietyOfMindAgent({
  name: "society",
  team: new RoundRobinGroupChat({ participants: [writer, critic], maxTurns: 2 }),
  modelClient,
})

const { messages } = await society.run("What is glass?")
for (const message of messages)
  if (message.type === "TextMessage") console.log(`${message.source}: ${message.content}`)
await society.close()

/* Prints, with the scripted model:
user: What is glass?
writer: Glass is a liquid that has forgotten to flow.
critic: It is not a liquid. Say that it is solid.
society: Glass is a solid without crystals.
*/
