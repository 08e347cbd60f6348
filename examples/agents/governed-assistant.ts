// An agent behind rules: what it may call, who is asked, and a record of it all that cannot be changed unseen.
//   npx tsx examples/agents/governed-assistant.ts
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AssistantAgent, answerText, tool } from "glovebox"
import { Governance, readAuditLog, verifyAuditLog } from "glovebox/governance"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { z } from "zod"
import { callTool, fromResult, scriptedModel } from "../scripted-model.ts"

const folder = await mkdtemp(join(tmpdir(), "governed-assistant-"))
const path = join(folder, "audit.jsonl")
const modelClient =
  scriptedModel([
    callTool("close_account", { order: 17 }),
    callTool("refund", { order: 17, euros: 90 }),
    fromResult((result) => (result.includes("Paid 90") ? "The money is on its way." : "I could not.")),
  ]) ?? new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const refund = tool({
  name: "refund",
  description: "Pays money back for an order",
  parameters: z.object({ order: z.int(), euros: z.number() }),
  risk: "high",
  approval: true,
  execute: ({ order, euros }) => `Paid ${euros} euros back for order ${order}.`,
})

const closeAccount = tool({
  name: "close_account",
  description: "Closes the account of whoever made an order",
  parameters: z.object({ order: z.int() }),
  execute: () => "Closed.",
})

const governance = new Governance({
  audit: { path },
  approval: { provider: ({ agent }) => ({ decision: "approve", by: "ann", reason: `${agent} is right` }) },
  access: { rules: [{ agents: "clerk", tools: "refund" }] },
})
const clerk = new AssistantAgent({
  name: "clerk",
  modelClient,
  tools: [refund, closeAccount],
  governance,
})

const result = await clerk.run("Pay 90 euros back for order 17, and close the account.")
console.log(answerText(result))
await governance.close()

for await (const { agent, kind, data } of readAuditLog(path)) {
  const what = data["target"] ?? data["decision"] ?? data["phase"]
  if (agent && typeof what === "string") console.log(`${agent} ${kind} ${what}`)
}
console.log(`whole: ${(await verifyAuditLog(path)).ok}`)
await rm(folder, { recursive: true })

/* Prints, with the scripted model:
The money is on its way.
clerk model-call intent
clerk model-call done
clerk access-denied tool close_account
clerk model-call intent
clerk model-call done
clerk approval request
clerk approval approved
clerk tool-call intent
clerk tool-call done
clerk model-call intent
clerk model-call done
whole: true
*/
