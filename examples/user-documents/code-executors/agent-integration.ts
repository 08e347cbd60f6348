// Integration with agents: an agent that runs the code which others write.
//   npx tsx examples/user-documents/code-executors/agent-integration.ts
import { CodeExecutorAgent, answerText } from "glovebox"
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
})
const codeExecutorAgent = new CodeExecutorAgent({ name: "code_executor", codeExecutor: executor })

const task = "Please run this:\n\n```python\nprint(sum(range(1, 101)))\n```"
const result = await codeExecutorAgent.run(task)
console.log(answerText(result))

/* Prints:
5050
*/
