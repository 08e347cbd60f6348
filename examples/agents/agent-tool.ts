// An agent as a tool of another. Each call begins afresh.
//   npx tsx examples/agents/agent-tool.ts
import { AgentTool, AssistantAgent } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { callTool, fromResult, scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel([
    callTool("translator", { task: "Into French: glass" }),
    "verre",
    fromResult((word) => `The French word for glass is "${word}".`),
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const translator = new AssistantAgent({
  name: "translator",
  description: "Translates a word. Say the language and the word.",
  modelClient,
  systemMessage: "Answer with the translation alone.",
})

const editor = new AssistantAgent({
  name: "editor",
  modelClient,
  tools: [new AgentTool({ agent: translator, returnValueAsLastMessage: true })],
})

for await (const item of editor.runStream("What is glass in French?")) {
  if (item.type === "TextMessage") console.log(`${item.source}: ${item.content}`)
}

/* Prints, with the scripted model:
user: What is glass in French?
translator: verre
editor: The French word for glass is "verre".
*/
