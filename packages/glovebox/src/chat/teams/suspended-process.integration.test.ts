import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { ApprovalProcess } from "../../governance/approval/approval-process.test-kit.ts"
import { answerApproval, listApprovals } from "../../governance/approval/index.ts"

const TEAMS = new URL("index.ts", import.meta.url).href
const KIT = new URL("../clerk.test-kit.ts", import.meta.url).href

let folder = ""

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-suspended-"))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

/** Begins, or goes on from what was saved; says how it ended, and stays until it is killed if it is told to. */
function worker(isToStay = false): ApprovalProcess {
  return new ApprovalProcess(`
    import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
    import { RoundRobinGroupChat } from ${JSON.stringify(TEAMS)}
    import { Clerk, lines } from ${JSON.stringify(KIT)}
    const folder = ${JSON.stringify(folder)}
    const note = (line) => appendFileSync(folder + "/ledger", line + "\\n")
    const provider = new approval.FileApprovalQueue({ folder: folder + "/queue" })
    const gate = new approval.ApprovalGate({ provider, suspend: true })
    const participants = ["coder", "checker"].map((name) => new Clerk(name, gate, note))
    const team = new RoundRobinGroupChat({ participants, maxTurns: 2 })
    const file = folder + "/state.json"
    const saved = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined
    if (saved) {
      await team.loadState(saved.team)
      gate.loadState(saved.approvals)
    }
    const result = await team.run(saved ? undefined : "tidy up")
    if (result.stopKind === "suspended") {
      writeFileSync(file, JSON.stringify({ team: await team.saveState(), approvals: await gate.saveState() }))
      console.log("saved " + result.pending.join())
      if (${isToStay}) setInterval(() => {}, 1000)
    } else console.log("ended " + result.stopKind + ": " + lines(result).join(", "))
  `)
}

async function answerElsewhere(): Promise<void> {
  const queue = join(folder, "queue")
  for (const { id, sha256 } of await listApprovals(queue)) {
    await answerApproval(queue, id, { decision: "approve", by: "ann", sha256 })
  }
}

async function ledger(): Promise<readonly string[]> {
  return (await readFile(join(folder, "ledger"), "utf8")).trim().split("\n")
}

describe("a team over several processes", () => {
  it("waits, is saved, answered elsewhere, killed, and comes to its end with everything done once", async () => {
    const first = worker()
    await first.until("saved ")
    expect(await first.ended).toBe(0)
    const [request] = await listApprovals(join(folder, "queue"))
    expect(first.seen.trim()).toBe(request?.id)
    expect(request?.agent).toBe("coder")

    // Nobody has answered: it waits for the same.
    const early = worker()
    await early.until(`saved ${request?.id}`)
    expect(await early.ended).toBe(0)
    expect(await ledger()).toEqual(["coder thinks of tidy up"])

    await answerElsewhere()
    const second = worker(true)
    await second.until("saved ")
    second.kill()
    expect(await second.ended).toBe("SIGKILL")
    expect((await listApprovals(join(folder, "queue"))).map(({ agent }) => agent)).toEqual(["checker"])

    await answerElsewhere()
    const last = worker()
    await last.until("ended max-turns: checker: checker did it")
    expect(await last.ended).toBe(0)
    expect(await ledger()).toEqual([
      "coder thinks of tidy up",
      "coder acts",
      "checker thinks of tidy up+coder did it",
      "checker acts",
    ])
  })
})
