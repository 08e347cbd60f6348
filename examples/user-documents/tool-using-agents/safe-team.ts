// A runtime, a sandbox with limits, an agent that has it as a tool, and a team of one.
//   npx tsx examples/user-documents/tool-using-agents/safe-team.ts
import { AssistantAgent, SelectorGroupChat, SingleThreadedAgentRuntime, answerText, tool } from "glovebox"
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { z } from "zod"
import { callTool, fromResult, scriptedModel } from "../../scripted-model.ts"

const modelClient =
  scriptedModel([
    callTool("run_python_in_docker", {
      code: "a, b, numbers = 0, 1, []\nfor _ in range(10):\n    numbers.append(a)\n    a, b = b, a + b\nprint(numbers)",
    }),
    fromResult((output) => `The first 10 Fibonacci numbers are ${output}.`),
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-4o-mini" })

// 1. Create a standalone runtime
await using runtime = new SingleThreadedAgentRuntime()
runtime.start()

// 2. Set up a Docker-based code executor
await using codeExecutor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
  timeout: "15s",
  memory: "512MiB",
  cpuPeriod: 100_000,
  cpuQuota: 50_000, // half a processor
  network: "none", // no outbound network from the container
  readOnlyRoot: true, // no write access to the container's file system
})

// 3. Build an AssistantAgent with the tool
const dockerTool = tool({
  name: "run_python_in_docker",
  description: "Execute Python code in a sandboxed Docker container with no network access.",
  parameters: z.object({ code: z.string() }),
  execute: async ({ code }, { signal }) => {
    const { output } = await codeExecutor.executeCodeBlocks([{ language: "python", code }], { signal })
    return output
  },
})
const assistant = new AssistantAgent({ name: "sandboxed_coder", modelClient, tools: [dockerTool] })

// 4. Run a simple task
await using team = new SelectorGroupChat({
  name: "safe_code_team",
  participants: [assistant], // can add more agents later
  modelClient,
  runtime,
})
const result = await team.run("Write Python code to compute the first 10 Fibonacci numbers and run it.")
console.log(answerText(result))
console.log("Stop reason:", result.stopReason)

/* Prints, with the scripted model:
The first 10 Fibonacci numbers are [0, 1, 1, 2, 3, 5, 8, 13, 21, 34].
Stop reason: sandboxed_coder has spoken and is alone in safe_code_team.
*/
