// Agents hand the conversation to each other, and to the user, who goes on in the next run.
//   npx tsx examples/teams/swarm.ts
import {
  AssistantAgent,
  HandoffMessage,
  HandoffTermination,
  Swarm,
  TextMessageTermination,
  answerText,
  tool,
} from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { z } from "zod"
import { callTool, fromResult, scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel([
    callTool("transfer_to_refunds", {}),
    callTool("transfer_to_user", {}),
    callTool("refund", { order: 17 }),
    fromResult((result) => `Done. ${result}`),
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const triage = new AssistantAgent({
  name: "triage",
  modelClient,
  systemMessage: "Hand every wish for money to refunds.",
  handoffs: ["refunds"],
})
const refunds = new AssistantAgent({
  name: "refunds",
  modelClient,
  systemMessage: "Refund orders. If you do not know the number of the order, hand off to the user.",
  tools: [
    tool({
      name: "refund",
      description: "Refunds an order",
      parameters: z.object({ order: z.int() }),
      execute: ({ order }) => `Order ${order} is refunded.`,
    }),
  ],
  handoffs: [{ target: "user", message: "Which order is it?" }],
})

await using team = new Swarm({
  participants: [triage, refunds],
  terminationCondition: new HandoffTermination("user").or(new TextMessageTermination("refunds")),
  maxTurns: 10,
})

const asked = await team.run("I want my money back.")
console.log(`${asked.stopReason} ${answerText(asked)}`)
const answered = await team.run(HandoffMessage({ source: "user", target: "refunds", content: "Order 17." }))
console.log(answerText(answered))

/* Prints, with the scripted model:
refunds handed off to user. Which order is it?
Done. Order 17 is refunded.
*/
