import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "vitest"
import { ApprovalProcess } from "../../../governance/approval/approval-process.test-kit.ts"
import { AuditFolder } from "../../../governance/audit/audit-folder.test-kit.ts"
import { answerApproval, listApprovals, verifyAuditLog } from "../../../governance/index.ts"

const from = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href)

/**
 * Begins, or goes on from what was saved, and says how it ended; its model and its tool write down that they were used.
 * One that is to be killed is, right after it paid.
 */
function clerk(folder: string, isToBeKilled = false): ApprovalProcess {
  return new ApprovalProcess(`
    import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
    import { AssistantAgent } from ${from("index.ts")}
    import { payTool } from ${from("assistant-suspended.test-kit.ts")}
    import { Governance, FileApprovalQueue } from ${from("../../../governance/index.ts")}
    import { ReplayChatCompletionClient } from ${from("../../../models/replay/index.ts")}
    const folder = ${JSON.stringify(folder)}
    const note = (line) => appendFileSync(folder + "/ledger", line + "\\n")
    const file = folder + "/state.json"
    const saved = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined
    const governance = new Governance({
      audit: { path: folder + "/audit.jsonl" },
      approval: { provider: new FileApprovalQueue({ folder: folder + "/queue" }), suspend: true },
      run: "run-1",
    })
    const says = (answer) => () => (note("asked"), answer)
    const pay = { id: "call-1", name: "pay", arguments: JSON.stringify({ euros: 7 }) }
    const assistant = new AssistantAgent({
      name: "clerk",
      modelClient: new ReplayChatCompletionClient(saved ? [says("It is paid.")] : [says([pay])]),
      tools: [payTool({ push: pay => { note("paid " + pay); if (${isToBeKilled}) process.kill(process.pid, "SIGKILL") } })],
      governance,
    })
    if (saved) {
      await assistant.loadState(saved.assistant)
      governance.loadState(saved.governance)
    }
    const result = await assistant.run(saved ? undefined : "Pay it.")
    if (result.stopKind === "suspended") {
      const state = { assistant: await assistant.saveState(), governance: await governance.saveState() }
      writeFileSync(file, JSON.stringify(state))
    }
    await governance.close()
    console.log("ended " + result.stopKind + JSON.stringify(result.messages))
  `)
}

async function approveIn(folder: string): Promise<void> {
  const queue = join(folder, "queue")
  const [request, ...others] = await listApprovals(queue)
  expect(others).toEqual([])
  await answerApproval(queue, request?.id ?? "", { decision: "approve", by: "ann", sha256: request?.sha256 })
}

async function ledger(folder: string): Promise<readonly string[]> {
  return (await readFile(join(folder, "ledger"), "utf8")).trim().split("\n")
}

it("waits, ends, and comes to its end in another process, with everything done and recorded once", async () => {
  await using place = await AuditFolder.make()
  const { folder, path } = place
  for (const _process of [1, 2]) {
    const waiting = clerk(folder)
    await waiting.until("ended suspended")
    expect(await waiting.ended).toBe(0)
  }
  await approveIn(folder)
  const last = clerk(folder)
  await last.until("ended answer")
  expect(await last.ended).toBe(0)
  expect(await ledger(folder)).toEqual(["asked", "paid 7", "asked"])
  expect(await verifyAuditLog(path)).toMatchObject({ ok: true })
  const records = await place.records()
  const done = records.filter(({ data }) => data["phase"] === "done").map(({ kind }) => kind)
  expect(done).toEqual(["model-call", "tool-call", "model-call"])
  const decided = records.filter(({ data }) => data["phase"] === "decision")
  expect(decided).toMatchObject([{ run: "run-1", agent: "clerk", data: { decision: "approved", by: "ann" } }])
})

it("pays once when the process is killed right after it, and the next one says that nobody knows", async () => {
  await using place = await AuditFolder.make()
  const { folder, path } = place
  expect(await clerk(folder).ended).toBe(0)
  await approveIn(folder)
  expect(await clerk(folder, true).ended).toBe("SIGKILL")
  const last = clerk(folder)
  const told = await last.until("It is paid.")
  expect(told).toMatch(/ended answer.*used already.*whether it was done is not known here/u)
  expect(await last.ended).toBe(0)
  expect(await ledger(folder)).toEqual(["asked", "paid 7", "asked"])
  expect(await verifyAuditLog(path)).toMatchObject({ ok: true })
})
