// What an agent remembers is told to its model with each request, and is not part of the conversation.
//   npx tsx examples/agents/memory.ts
import { AssistantAgent, toText } from "glovebox"
import { BufferedChatCompletionContext, ListMemory } from "glovebox/memory"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel(["Tea, without sugar, coming up."]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const memory = new ListMemory()
await memory.add({ content: "The user drinks tea.", mimeType: "text/plain" })
await memory.add({ content: "The user takes no sugar.", mimeType: "text/plain" })

const waiter = new AssistantAgent({
  name: "waiter",
  modelClient,
  memory: [memory],
  // Keeps the last 20 messages of the conversation.
  modelContext: new BufferedChatCompletionContext({ bufferSize: 20 }),
})

for await (const item of waiter.runStream("The usual, please.")) {
  if (item.type === "MemoryQueryEvent") console.log(`remembers: ${toText(item)}`)
  if (item.type === "TextMessage") console.log(`${item.source}: ${item.content}`)
}

/* Prints, with the scripted model:
user: The usual, please.
remembers: The user drinks tea.
The user takes no sugar.
waiter: Tea, without sugar, coming up.
*/
