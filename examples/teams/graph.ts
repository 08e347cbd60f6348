// A graph says who speaks after whom: two reviewers at once, then a decision, and back to the writer if need be.
//   npx tsx examples/teams/graph.ts
import { AssistantAgent, DiGraphBuilder, GraphFlow, answerText } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { scriptedModel } from "../scripted-model.ts"

// Each has its own model, because the two reviewers are asked at the same time.
function speaker(name: string, systemMessage: string, ...answers: readonly string[]): AssistantAgent {
  const modelClient = scriptedModel(answers) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })
  return new AssistantAgent({ name, systemMessage, modelClient })
}

const writer = speaker("writer", "Write one sentence.", "Glas are solid.", "Glass is solid.")
const grammar = speaker("grammar", "Judge the grammar in five words.", "Wrong: it is singular.", "Correct.")
const facts = speaker("facts", "Judge the facts in five words.", "True.", "True.")
const editor = speaker("editor", "If both reviewers agree say APPROVED, else REVISE.", "REVISE", "APPROVED")
const printer = speaker("printer", "Repeat the last sentence of the writer.", "Glass is solid.")

const graph = new DiGraphBuilder()
  .addEdge(writer, grammar)
  .addEdge(writer, facts)
  .addEdge(grammar, editor)
  .addEdge(facts, editor)
  .addEdge(editor, writer, { condition: "REVISE" })
  .addEdge(editor, printer, { condition: "APPROVED" })
  .setEntryPoint(writer)

await using flow = new GraphFlow({ graph, maxTurns: 20 })
const result = await flow.run("What is glass?")
console.log(result.messages.map(({ source }) => source).join(" "))
console.log(answerText(result), `(${result.stopKind})`)

/* Prints, with the scripted model:
user writer grammar facts editor writer grammar facts editor printer
Glass is solid. (completed)
*/
