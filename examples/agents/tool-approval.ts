// A tool that asks before it is called. What is approved is these arguments and no others.
//   npx tsx examples/agents/tool-approval.ts
import { AssistantAgent, answerText, tool } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { z } from "zod"
import { callTool, fromResult, scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel([
    callTool("refund", { order: 17, euros: 900 }),
    fromResult((result) => `I could not do it. ${result}`),
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const refund = tool({
  name: "refund",
  description: "Pays money back for an order",
  parameters: z.object({ order: z.int(), euros: z.number() }),
  risk: "high",
  approval: ({ euros }) => euros > 100,
  execute: ({ order, euros }) => `Paid ${euros} euros back for order ${order}.`,
})

const clerk = new AssistantAgent({
  name: "clerk",
  modelClient,
  tools: [refund],
  approve: ({ tool, risk, arguments: args }) => {
    console.log(`${tool} (${risk} risk) with ${JSON.stringify(args)}?`)
    return { approved: false, reason: "More than 100 euros need two people." }
  },
})

const result = await clerk.run("Pay 900 euros back for order 17.")
console.log(answerText(result))

/* Prints, with the scripted model:
refund (high risk) with {"order":17,"euros":900}?
I could not do it. The call of refund was not approved. Do not try it again. Reason: More than 100 euros need two people.
*/
