// An agent whose whole job is code: it writes, runs, and corrects what failed.
//   npx tsx examples/agents/code-executor-agent.ts
import { CodeExecutorAgent, answerText } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { fromOutput, scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel([
    "```python\nprint(datetime.date(2000, 1, 1).strftime('%A'))\n```",
    "I forgot the import.\n```python\nimport datetime\nprint(datetime.date(2000, 1, 1).strftime('%A'))\n```",
    fromOutput((day) => `It was a ${day}.`),
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

// Without `codeExecutor` it takes the sandbox that this machine has, and ends it when it is closed.
await using coder = new CodeExecutorAgent({ name: "coder", modelClient, maxRetriesOnError: 2 })

for await (const item of coder.runStream("Which day of the week was 1 January 2000?")) {
  if (item.type === "CodeGenerationEvent") console.log(`attempt ${item.retryAttempt + 1}`)
  if (item.type === "CodeExecutionEvent") {
    console.log(`exit code ${item.result.exitCode}: ${item.result.output.trim().split("\n").at(-1)}`)
  }
  if (item.type === "TaskResult") console.log(answerText(item))
}

/* Prints, with the scripted model:
attempt 1
exit code 1: NameError: name 'datetime' is not defined. Did you forget to import 'datetime'?
attempt 2
exit code 0: Saturday
It was a Saturday.
*/
