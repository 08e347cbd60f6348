// A conversation that goes on in another process: the state is plain JSON.
//   npx tsx examples/agents/state.ts
import { AssistantAgent, answerText } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel([
    "Nice to meet you, Ada.",
    (messages) => (JSON.stringify(messages).includes("I am Ada") ? "You are Ada." : "We have not met."),
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const first = new AssistantAgent({ name: "host", modelClient })
await first.run("I am Ada.")
const saved = JSON.stringify(await first.saveState())

const second = new AssistantAgent({ name: "host", modelClient })
await second.loadState(JSON.parse(saved))
const result = await second.run("Who am I?")
console.log(answerText(result))

/* Prints, with the scripted model:
You are Ada.
*/
