// A team that waits for an approval, perhaps for days: one process asks, somebody answers, another process goes on.
//   npx tsx examples/teams/approval-later.ts
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AssistantAgent, RoundRobinGroupChat, TextMentionTermination, answerText, tool } from "glovebox"
import { ApprovalGate, FileApprovalQueue, answerApproval, listApprovals } from "glovebox/governance"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { z } from "zod"
import { callTool, fromResult, scriptedModel } from "../scripted-model.ts"

const folder = await mkdtemp(join(tmpdir(), "approval-later-"))
const [queue, stateFile] = [join(folder, "approvals"), join(folder, "state.json")]
// One for both processes: it would have no answer if it were asked twice.
const modelClient =
  scriptedModel([callTool("refund", { order: 17, euros: 900 }), fromResult((result) => `${result} DONE`)]) ??
  new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

/** Each process makes the same team and the same gate. */
function makeOffice(): { readonly team: RoundRobinGroupChat; readonly gate: ApprovalGate } {
  const gate = new ApprovalGate({ provider: new FileApprovalQueue({ folder: queue }), suspend: true })
  const refund = tool({
    name: "refund",
    description: "Pays money back for an order",
    parameters: z.object({ order: z.int(), euros: z.number() }),
    risk: "high",
    approval: true,
    execute: ({ order, euros }) => {
      console.log("money is paid")
      return `Paid ${euros} euros back for order ${order}.`
    },
  })
  const clerk = new AssistantAgent({
    name: "clerk",
    modelClient,
    systemMessage: "Do what the user asks. Say DONE at the end.",
    tools: [refund],
    approve: gate.forTools({ agent: "clerk" }),
  })
  const team = new RoundRobinGroupChat({
    participants: [clerk],
    terminationCondition: new TextMentionTermination("DONE", { sources: ["clerk"] }),
  })
  return { team, gate }
}

// The first process asks and ends.
const asking = makeOffice()
const result = await asking.team.run("Pay 900 euros back for order 17.")
if (result.stopKind === "suspended") {
  const state = { team: await asking.team.saveState(), approvals: await asking.gate.saveState() }
  await writeFile(stateFile, JSON.stringify(state))
  console.log(`${result.stopKind}, ${result.pending?.length} to answer`)
}
await asking.team.close()

// Somebody answers, in a process of their own.
for (const { id, sha256, agent, payload } of await listApprovals(queue)) {
  console.log(`${agent}: ${JSON.stringify(payload)}?`)
  await answerApproval(queue, id, { decision: "approve", sha256, by: "ann" })
}

// Another process goes on: without a task, and without asking the model again.
const office = makeOffice()
const state = JSON.parse(await readFile(stateFile, "utf8"))
await office.team.loadState(state.team)
office.gate.loadState(state.approvals)
console.log(answerText(await office.team.run()))
await office.team.close()
await rm(folder, { recursive: true })

/* Prints, with the scripted model:
suspended, 1 to answer
clerk: {"arguments":{"euros":900,"order":17},"tool":"refund"}?
money is paid
Paid 900 euros back for order 17. DONE
*/
