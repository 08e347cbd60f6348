import { resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { FakeExecutor } from "../chat/agents/code-executor/fake-executor.test-kit.ts"
import { SandboxPolicy } from "../policy/index.ts"
import { Governance, type GovernanceOptions, sha256Of } from "./index.ts"
import { GovernedPlace } from "./governance.test-kit.ts"

const CODE = [{ code: "print(1)", language: "python3" }]

describe("Governance", () => {
  it("writes to .glovebox/audit.jsonl of the current folder unless it is told otherwise", () => {
    expect(new Governance().auditLog?.path).toBe(resolve(".glovebox", "audit.jsonl"))
    expect(new Governance({ audit: false }).auditLog).toBeUndefined()
  })

  it("writes down a run: its task by hash, and how it ended", async () => {
    await using place = await GovernedPlace.make({ run: "r1" })
    await place.governance.auditRun({ command: "run", task: "count" }, async () => ({
      stopKind: "answer",
      stopReason: "It answered.",
      answer: "forty-two",
    }))
    await expect(
      place.governance.auditRun({ task: "fail" }, () => Promise.reject(new Error("no"))),
    ).rejects.toThrow("no")
    const aborted = AbortSignal.abort().reason as Error
    await expect(place.governance.auditRun({ task: "stop" }, () => Promise.reject(aborted))).rejects.toBe(
      aborted,
    )
    await place.governance.auditRun({ task: "wait" }, async () => ({ stopKind: "suspended" }))
    const records = await place.records()
    expect(records[0]).toMatchObject({
      run: "r1",
      kind: "run-start",
      data: { taskSha256: sha256Of("count") },
    })
    expect(records[1]?.data).toMatchObject({ answerSha256: sha256Of("forty-two") })
    expect(records.map(({ data }) => data["outcome"]).filter(Boolean)).toEqual([
      "done",
      "failed",
      "cancelled",
      "suspended",
    ])
    expect((await place.folder.lines()).join("")).not.toContain('count"')
  })

  it("knows a language by all its names in rules", async () => {
    const rules = [{ when: { language: "python" }, then: "deny" }] as const
    await using place = await GovernedPlace.make({ approval: { rules } })
    await expect(
      place.governance.agent("coder").executor(new FakeExecutor()).executeCodeBlocks(CODE),
    ).rejects.toMatchObject({ code: "APPROVAL_DENIED" })
  })

  it("carries what waits for an answer to another process, where it is used once", async () => {
    const options: GovernanceOptions = { approval: { suspend: true } }
    await using place = await GovernedPlace.make(options)
    const wide = (): FakeExecutor & { readonly policy: SandboxPolicy } =>
      Object.assign(new FakeExecutor("1\n"), {
        policy: new SandboxPolicy({ network: { allow: ["a.example:443"] } }),
      })
    const first = wide()
    const asked = place.governance.agent("coder").executor(first).executeCodeBlocks(CODE)
    await expect(asked).rejects.toMatchObject({ code: "APPROVAL_PENDING" })
    const state: unknown = JSON.parse(JSON.stringify(await place.governance.saveState()))

    await using other = await GovernedPlace.make(options)
    other.governance.loadState(state)
    const [request] = other.governance.gate?.pending() ?? []
    other.governance.gate?.answer(request?.id ?? "", { decision: "approve", by: "ada" })
    const second = wide()
    const run = (): Promise<unknown> =>
      other.governance.agent("coder").executor(second).executeCodeBlocks(CODE)
    await run().catch(() => {})
    expect([first.ran.length, second.ran.length]).toEqual([0, 1])
    await expect(run()).rejects.toMatchObject({ code: "APPROVAL_PENDING" })
  })

  it.each([
    [{ audit: "file.jsonl" }, "audit"],
    [{ approval: true }, "approval"],
    [{ redact: {} }, "redact"],
    [{ content: { codes: true } }, "codes"],
    [{ audit: { path: 7 } }, "path"],
    [{ access: { rules: [{ agent: "x" }] } }, "rules"],
  ])("refuses %j, and says where", (options, where) => {
    expect(() => new Governance(options as GovernanceOptions)).toThrow(where)
  })

  it.each([
    [null],
    [{}],
    [{ type: "GovernanceState", version: 2 }],
    [{ type: "GovernanceState", version: 1, approvals: 3 }],
  ])("refuses the state %j", async (state) => {
    await using place = await GovernedPlace.make()
    expect(() => place.governance.loadState(state)).toThrow(
      expect.objectContaining({ code: "STATE_INVALID" }),
    )
  })
})
