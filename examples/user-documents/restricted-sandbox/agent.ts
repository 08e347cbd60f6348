// The restricted executor as a tool of an agent: it writes a script, runs it there, and returns the output.
//   npx tsx examples/user-documents/restricted-sandbox/agent.ts
import { fileURLToPath } from "node:url"
import { AssistantAgent, answerText, tool } from "glovebox"
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { z } from "zod"
import { callTool, fromResult, scriptedModel } from "../../scripted-model.ts"

// 1. Model client
const modelClient =
  scriptedModel([
    callTool("run_python", { code: "for n in range(1, 6):\n    print(n * n)" }),
    fromResult((output) => output),
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-4o-mini" })

// 2. Docker-based code executor
const data = fileURLToPath(new URL("../data", import.meta.url))
await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
  extraVolumes: { [data]: { bind: "/workspace/host_ro", mode: "ro" } },
  network: "none",
  timeout: "20s",
})

// 3. Tool: takes code, runs it in the executor. `codeExecutionTool({ executor, name: "run_python" })` is the same, and more.
const runPython = tool({
  name: "run_python",
  description: "Runs Python code in a sandbox without network, and returns what it prints",
  parameters: z.object({ code: z.string() }),
  execute: async ({ code }, { signal }) => {
    const result = await executor.executeCodeBlocks([{ language: "python", code }], { signal })
    return result.stdout || result.stderr
  },
})

// 4. Agent with the tool
const assistant = new AssistantAgent({ name: "code_writer", modelClient, tools: [runPython] })

// 5. Simple interaction
const result = await assistant.run(`Write a short Python script that prints the squares of numbers 1 to 5,
then execute it using the \`run_python\` tool and return the output only.`)
console.log(answerText(result))

/* Prints, with the scripted model:
1
4
9
16
25
*/
