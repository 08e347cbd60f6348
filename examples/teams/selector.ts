// A model chooses who speaks next.
//   npx tsx examples/teams/selector.ts
import { AssistantAgent, SelectorGroupChat, TextMentionTermination, toText } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel([
    "planner",
    "1. Find the melting point. 2. Convert it.",
    "chemist",
    "Window glass softens at about 1000 K.",
    "planner",
    "That is about 727 degrees Celsius. DONE",
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const planner = new AssistantAgent({
  name: "planner",
  description: "Makes a plan first, and writes the answer at the end.",
  modelClient,
  systemMessage: "Plan briefly. When everything is known, write the answer, and DONE.",
})
const chemist = new AssistantAgent({ name: "chemist", description: "Knows about materials.", modelClient })
const historian = new AssistantAgent({
  name: "historian",
  description: "Knows when things happened.",
  modelClient,
})

const team = new SelectorGroupChat({
  participants: [planner, chemist, historian],
  modelClient,
  allowRepeatedSpeaker: true,
  terminationCondition: new TextMentionTermination("DONE", { sources: ["planner"] }),
  maxTurns: 10,
})

const { messages, stopReason } = await team.run("When does window glass become soft, in degrees Celsius?")
for (const message of messages) console.log(`${message.source}: ${toText(message)}`)
console.log(stopReason)
await team.close()

/* Prints, with the scripted model:
user: When does window glass become soft, in degrees Celsius?
planner: 1. Find the melting point. 2. Convert it.
chemist: Window glass softens at about 1000 K.
planner: That is about 727 degrees Celsius. DONE
planner said "DONE".
*/
