// What a turn may use: rounds of tools, calls, tokens and time. `stopKind` says which of them ended it.
//   npx tsx examples/agents/caps.ts
import { AssistantAgent, answerText, tool } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { callTool, scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel(Array.from({ length: 3 }, () => callTool("look", {}))) ??
  new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

let looks = 0
const look = tool({
  name: "look",
  description: "Looks whether the kettle boils",
  execute: () => `${(looks += 1)}: it does not boil yet`,
})

const watcher = new AssistantAgent({
  name: "watcher",
  modelClient,
  tools: [look],
  systemMessage: "Look again and again until the kettle boils.",
  maxToolRounds: 2,
  maxToolCalls: 10,
  maxTokens: 20_000,
  turnTimeout: "1m",
})

const result = await watcher.run("Tell me when the kettle boils.")
console.log(answerText(result))
console.log(`${result.stopKind}: ${result.stopReason}`)

/* Prints, with the scripted model:
1: it does not boil yet
2: it does not boil yet
tool-rounds: watcher wanted tools after 2 rounds of them, which is its limit.
*/
