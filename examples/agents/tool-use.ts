// An agent with a tool: it calls the tool until it can answer.
//   npx tsx examples/agents/tool-use.ts
import { AssistantAgent, answerText, tool } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { z } from "zod"
import { callTool, fromResult, scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel([
    callTool("weather", { city: "Oslo" }),
    fromResult((weather) => `In Oslo there is ${weather}.`),
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const weather = tool({
  name: "weather",
  description: "The weather in a city",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => (city === "Oslo" ? "rain at 7 degrees" : "sun at 21 degrees"),
})

const assistant = new AssistantAgent({ name: "assistant", modelClient, tools: [weather] })
const result = await assistant.run("What is the weather in Oslo?")

for (const message of result.messages) console.log(`${message.source}: ${message.type}`)
console.log(answerText(result))
console.log(result.stopReason)

/* Prints, with the scripted model:
user: TextMessage
assistant: ToolCallRequestEvent
assistant: ToolCallExecutionEvent
assistant: TextMessage
In Oslo there is rain at 7 degrees.
assistant answered.
*/
