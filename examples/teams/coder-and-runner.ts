// One agent writes code, another runs it in the sandbox and says what it printed.
//   npx tsx examples/teams/coder-and-runner.ts
import {
  AssistantAgent,
  CodeExecutorAgent,
  MaxMessageTermination,
  RoundRobinGroupChat,
  TextMentionTermination,
  answerText,
} from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { fromResult, scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel([
    "```python\nprint([n for n in range(2, 30) if all(n % d for d in range(2, n))])\n```",
    fromResult((primes) => `The primes below 30 are ${primes}. DONE`),
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const coder = new AssistantAgent({
  name: "coder",
  modelClient,
  systemMessage:
    "Write Python in fenced blocks; it is run for you. When you have the answer, say it, and DONE.",
})
await using runner = new CodeExecutorAgent({ name: "runner", sources: ["coder"] })

await using team = new RoundRobinGroupChat({
  participants: [coder, runner],
  terminationCondition: new TextMentionTermination("DONE").or(new MaxMessageTermination(8)),
})

const result = await team.run("Which numbers below 30 are prime?")
for (const { type, source } of result.messages) console.log(`${source}: ${type}`)
console.log(answerText(result))
console.log(result.stopReason)

/* Prints, with the scripted model:
user: TextMessage
coder: TextMessage
runner: CodeGenerationEvent
runner: CodeExecutionEvent
runner: TextMessage
coder: TextMessage
The primes below 30 are [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]. DONE
coder said "DONE".
*/
