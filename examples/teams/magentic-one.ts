// A model leads: it plans, gives each agent its part, and writes the answer.
//   npx tsx examples/teams/magentic-one.ts
import { CodeExecutorAgent, MagenticOneGroupChat, answerText } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { fromOutput, scriptedModel } from "../scripted-model.ts"

const because = (answer: unknown): object => ({ reason: "so it is", answer })

function judge(satisfied: boolean, instruction: string): string {
  const fields = { satisfied: because(satisfied), looping: because(false), progressing: because(true) }
  return JSON.stringify({ ...fields, instruction: because(instruction) })
}

const modelClient =
  scriptedModel([
    "To be worked out: the digits of 2 to the power of 100.",
    "1. coder: add the digits.",
    judge(false, "Add up the digits of 2 to the power of 100."),
    "```python\nprint(sum(int(digit) for digit in str(2 ** 100)))\n```",
    fromOutput((output) => `The sum is ${output}.`),
    judge(true, "Nothing is left to do."),
    (messages) =>
      `Of the digits of 2 to the power of 100: ${/The sum is \d+/.exec(JSON.stringify(messages))?.[0]}.`,
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

await using coder = new CodeExecutorAgent({ name: "coder", modelClient })
await using team = new MagenticOneGroupChat({ participants: [coder], modelClient, maxTurns: 6 })

for await (const item of team.runStream("What is the sum of the digits of 2 to the power of 100?")) {
  if (item.type === "TaskResult") console.log(`${item.stopKind}: ${answerText(item)}`)
  else if (item.type === "CodeExecutionEvent") console.log(`the code printed ${item.result.output.trim()}`)
  else if (item.type === "TextMessage") console.log(`${item.source}: ${item.content.split("\n")[0]}`)
}

/* Prints, with the scripted model:
user: What is the sum of the digits of 2 to the power of 100?
MagenticOneOrchestrator: The team:
MagenticOneOrchestrator: Add up the digits of 2 to the power of 100.
the code printed 115
coder: The sum is 115.
MagenticOneOrchestrator: Of the digits of 2 to the power of 100: The sum is 115.
completed: Of the digits of 2 to the power of 100: The sum is 115.
*/
