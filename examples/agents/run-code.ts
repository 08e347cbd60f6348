// An agent that writes code and runs it in the sandbox of this machine: Docker where an engine answers, else WebAssembly.
//   npx tsx examples/agents/run-code.ts
import { AssistantAgent, Console, codeExecutionTool, createExecutor } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { callTool, fromResult, scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel([
    callTool("execute_code", { code: "print(sum(n for n in range(1000) if n % 3 == 0 or n % 5 == 0))" }),
    fromResult((sum) => `The sum is ${sum}.`),
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

await using executor = await createExecutor({ timeout: "20s" })
const coder = new AssistantAgent({
  name: "coder",
  modelClient,
  systemMessage: "Compute with Python, in the tool. Never guess a number.",
  tools: [codeExecutionTool({ executor })],
})

await Console(coder.runStream("Add up the multiples of 3 or 5 below 1000."))

/* Prints, with the scripted model:
user (TextMessage)
  Add up the multiples of 3 or 5 below 1000.
coder (ToolCallRequestEvent)
  > execute_code({"code":"print(sum(n for n in range(1000) if n % 3 == 0 or n % 5 == 0))"})
coder (ToolOutputEvent)
  | 233168
coder (ToolCallExecutionEvent)
  < execute_code: 233168
coder (TextMessage)
  The sum is 233168.
= stopped (answer): coder answered.
*/
