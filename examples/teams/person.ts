// A person in a team. Here the answers come from a list; without `input` they are typed at the terminal.
//   npx tsx examples/teams/person.ts
import { AssistantAgent, RoundRobinGroupChat, TextMentionTermination, UserProxyAgent } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel(["Shall we meet at nine?", "Then at ten."]) ??
  new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const answers = ["Later, please.", "FINE"]
const assistant = new AssistantAgent({
  name: "assistant",
  modelClient,
  systemMessage: "Find a time to meet.",
})
const user = new UserProxyAgent({ name: "user", input: () => answers.shift() ?? "FINE", timeout: "10m" })

await using team = new RoundRobinGroupChat({
  participants: [assistant, user],
  terminationCondition: new TextMentionTermination("FINE", { sources: ["user"] }),
  maxTurns: 10,
})

for await (const item of team.runStream("Let us meet tomorrow.")) {
  if (item.type === "TextMessage") console.log(`${item.source}: ${item.content}`)
}

/* Prints, with the scripted model:
user: Let us meet tomorrow.
assistant: Shall we meet at nine?
user: Later, please.
assistant: Then at ten.
user: FINE
*/
