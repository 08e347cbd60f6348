// The tools of an MCP server for an agent: here Glovebox's own server, which runs code in the embedded sandbox.
// Needs @modelcontextprotocol/client, and @modelcontextprotocol/server for this server.
//   npx tsx examples/mcp/sandbox-server.ts
import { AssistantAgent, answerText } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { McpWorkbench } from "glovebox/tools/mcp"
import { callTool, fromResult, scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel([
    callTool("run_code", { language: "python", code: "print(sum(map(int, str(2 ** 100))))" }),
    fromResult((output) => `The digits of 2 to the power of 100 add up to ${output.split("\n")[0]}.`),
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

await using workbench = new McpWorkbench({
  server: { command: "npx", args: ["glovebox", "mcp", "--sandbox", "wasm"] },
})
const assistant = new AssistantAgent({ name: "assistant", modelClient, workbench })

const result = await assistant.run("What is the sum of the digits of 2 to the power of 100?")
console.log(answerText(result))

/* Prints, with the scripted model:
The digits of 2 to the power of 100 add up to 115.
*/
