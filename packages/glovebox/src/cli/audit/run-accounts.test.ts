import { describe, expect, it } from "vitest"
import { type AuditEntry, type AuditRecord, codeRunIntent, readAuditLog } from "../../governance/index.ts"
import { AuditFolder } from "../../governance/audit/audit-folder.test-kit.ts"
import { CODE, SHA, recordDemoRun } from "./demo-run.test-kit.ts"
import { formatAccount } from "./format-account.ts"
import type { RunAccount } from "./run-account.ts"
import { runAccounts } from "./run-accounts.ts"

async function accountsOf(records: AsyncIterable<AuditRecord>, maxHeld?: number): Promise<RunAccount[]> {
  const accounts: RunAccount[] = []
  for await (const account of runAccounts(records, maxHeld === undefined ? {} : { maxHeld }))
    accounts.push(account)
  return accounts
}

async function accountsAfter(entries: readonly AuditEntry[]): Promise<RunAccount[]> {
  await using folder = await AuditFolder.make()
  await using log = folder.log()
  await Promise.all(entries.map((entry) => log.append(entry)))
  return accountsOf(readAuditLog(folder.path))
}

const approval = (id: string, decision: "approved" | "denied", sha256: string, run = "r"): AuditEntry => ({
  kind: "approval",
  run,
  data: { phase: "decision", id, decision, by: "bob", sha256 },
})

describe("runAccounts", () => {
  it("tells what ran, under which policy, in which image, what it reached, who approved, what came out", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log()
    await recordDemoRun(log)
    const [account, ...others] = await accountsOf(readAuditLog(folder.path))
    expect(others).toEqual([])
    const text = formatAccount(account ?? ({} as never)).join("\n")
    expect(text).toMatch(/^Run run-7\n/)
    for (const part of [
      "asked     glovebox run: Multiply",
      `policy    sha256 ${SHA}, from policy.yaml; wider than deny-all in network: none -> api.test:443`,
      "      | print(6 * 7)",
      "approval  approved by alice (approval ask-of-run-7, for this code)",
      `image     python:3-slim sha256:${SHA}`,
      "reached   api.test:443, allowed by api.test:443, 10 bytes up, 20 down",
      "tried     evil.test:443, DENIED: not allowed",
      "secret    TOKEN for api.test",
      "ended     exit code 0 after 1200ms",
      `output    3 bytes, sha256 ${SHA}`,
      `file      answer.txt, 3 bytes, sha256 ${SHA}`,
      "outcome   done",
      `given     numbers.csv, sha256 ${SHA}`,
      `answer    42 (sha256 ${SHA})`,
    ]) {
      expect(text).toContain(part)
    }
    // The connection once, and the approval with what it was for.
    expect(account?.steps).toHaveLength(1)
    expect(text.match(/reached/g)).toHaveLength(1)
  })

  it("tells each thing once: who asked, a policy, a sandbox, code that a call ran; and that nothing was reached", async () => {
    const intent = codeRunIntent("c", [{ language: "python", code: "print(1)" }], { code: true })
    const sandbox = { executor: "docker", containerId: "box-1" } as const
    const call = { phase: "done", id: "t", tool: "execute_code" } as const
    const entries: AuditEntry[] = [
      { kind: "policy-load", data: { sha256: SHA, source: "policy.yaml", widenings: [] } },
      { kind: "run-start", data: { details: { user: "ann", model: "m", other: "x" } } },
      { kind: "policy-load", data: { sha256: SHA, source: "executor", widenings: [] } },
      { kind: "tool-call", data: { ...call, arguments: { code: "print(1)", language: "python" } } },
      { kind: "sandbox", data: { ...sandbox, event: "started", imageDigest: "sha256:1" } },
      { kind: "code-run", data: { ...intent, phase: "done", effective: { user: "65532", kernel: {} } } },
      { kind: "sandbox", data: { ...sandbox, event: "destroyed" } },
    ]
    const [account] = await accountsAfter(entries.map((entry) => ({ ...entry, run: "r" })))
    const lines = formatAccount(account ?? ({} as never)).map((line) => line.trim())
    const withName = (name: string): string[] => lines.filter((line) => line.startsWith(`${name} `))
    expect(withName("asked by")).toEqual(["asked by  user ann"])
    expect(withName("with")).toEqual(["with      model m"])
    expect(withName("policy")).toEqual([`policy    sha256 ${SHA}, from policy.yaml; denies all`])
    expect(withName("sandbox")).toEqual(["sandbox   docker box-1 started, destroyed; image sha256:1"])
    expect(lines.filter((line) => line.includes("print(1)"))).toEqual(["| print(1)"])
    expect(withName("settings")).toEqual(["settings  user 65532"])
    expect(withName("reached")).toEqual(["reached   nothing: no connection is recorded"])
  })

  it("tells what was refused, and what was asked for before somebody changed it", async () => {
    const other = "b".repeat(64)
    const intent = codeRunIntent("c", [{ language: "python", code: "print(2)" }], { code: true })
    const ask = { phase: "request", subject: "code" } as const
    const payload = { codeBlocks: [{ language: "python", code: "print(1)" }] }
    const decision = { phase: "decision", by: "ann" } as const
    const edited = { ...decision, id: "1", decision: "edited", sha256: intent.codeSha256 ?? "" } as const
    const [account] = await accountsAfter([
      { kind: "approval", data: { ...ask, id: "1", sha256: SHA, payload } },
      { kind: "approval", data: edited },
      { kind: "code-run", data: intent },
      { kind: "approval", data: { ...ask, id: "2", sha256: other, payload: { tool: "pay" } } },
      { kind: "approval", data: { ...decision, id: "2", decision: "denied", reason: "no", sha256: other } },
    ])
    const lines = formatAccount(account ?? ({} as never)).map((line) => line.trim())
    for (const line of [
      `asked for sha256 ${SHA}, which is another`,
      "| print(1)",
      "| print(2)",
      "approval  edited by ann (approval 1, for this code)",
      'what      {"tool":"pay"}',
      "decision  denied by ann: no",
    ]) {
      expect(lines).toContain(line)
    }
  })

  it("keeps runs apart, and tells of those that ended early when there are too many", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log()
    await log.append({ kind: "run-start", run: "open", data: {} })
    for (const run of ["a", "b"]) {
      await log.append({ kind: "run-start", run, data: {} })
      await log.append({ kind: "run-end", run, data: { outcome: "done" } })
    }
    await log.append({ kind: "sandbox", run: "a", data: { event: "destroyed", executor: "docker" } })
    await log.append({ kind: "custom", data: { name: "mine" } })
    const all = await accountsOf(readAuditLog(folder.path))
    expect(all.map(({ run, isContinued }) => [run, isContinued])).toEqual([
      ["open", false],
      ["a", false],
      ["b", false],
      [null, false],
    ])
    const few = await accountsOf(readAuditLog(folder.path), 2)
    expect(few.map(({ run, isContinued }) => [run, isContinued])).toEqual([
      ["a", false],
      ["b", false],
      ["open", false],
      ["a", true],
      [null, false],
    ])
    expect(few.reduce((sum, { records }) => sum + records, 0)).toBe(7)
  })

  it("gives each approval to one run of exactly what was approved", async () => {
    const run = (id: string, codeSha256: string): AuditEntry => ({
      kind: "code-run",
      run: "r",
      data: { phase: "intent", id, blocks: [], codeSha256 },
    })
    const other = "b".repeat(64)
    const [account] = await accountsAfter([
      approval("no", "denied", SHA),
      approval("yes", "approved", SHA),
      run("1", other),
      run("2", SHA),
      run("3", SHA),
    ])
    expect(
      account?.steps.map((step) =>
        step.type === "code-run" ? [step.data.id, step.approval?.id] : step.type,
      ),
    ).toEqual(["approval", ["1", undefined], ["2", "yes"], ["3", undefined]])
  })

  it("finds the request of an answer that came in another run", async () => {
    const accounts = await accountsAfter([
      {
        kind: "approval",
        run: "r1",
        data: { phase: "request", id: "q", subject: "tool", name: "pay", sha256: SHA },
      },
      { kind: "run-end", run: "r1", data: { outcome: "suspended" } },
      approval("q", "denied", SHA, "r2"),
    ])
    const [first, second] = accounts.map((account) => formatAccount(account).join("\n"))
    expect(first).toContain("decision  none is recorded")
    expect(second).toContain("approval of tool pay\n")
    expect(second).toContain("decision  denied by bob")
  })

  it("says of what has no outcome that nobody knows", async () => {
    const [account] = await accountsAfter([
      { kind: "tool-call", run: "r", data: { phase: "intent", id: "t", tool: "pay" } },
    ])
    const text = formatAccount(account ?? ({} as never)).join("\n")
    expect(text).toContain("nobody knows how it went")
    expect(text).toContain("outcome   not recorded")
  })

  it("tells of records that are not as expected as they are, with nothing hidden", async () => {
    const base = {
      v: 1,
      prev: SHA,
      hash: SHA,
      at: new Date(0).toISOString(),
      mono: 0,
      run: "\u001b[2J\n",
      agent: "\u202e",
    }
    const records = async function* (): AsyncGenerator<AuditRecord> {
      yield { ...base, seq: 1, kind: "code-run", data: { blocks: "\u001b]0;x\u0007" } }
      yield { ...base, seq: 2, kind: "constructor", data: { a: "\u009b2J" } }
      yield {
        ...base,
        seq: 3,
        kind: "model-call",
        data: { phase: "done", id: "\u001b", model: "__proto__" },
      }
    }
    const [account] = await accountsOf(records())
    const text = formatAccount(account ?? ({} as never)).join("\n")
    expect(account?.steps).toHaveLength(2)
    expect(text).toContain("model     __proto__: 1 call")
    expect(text).toContain("Run ␛[2J␊")
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u)
  })

  it("shows code in a way that cannot be taken for the account", async () => {
    const code = "print(1)\n    approval  approved by root\n\u001b[A"
    const [account] = await accountsAfter([
      {
        kind: "code-run",
        run: "r",
        data: { phase: "intent", id: "c", blocks: [{ ...CODE[0], language: "sh", sha256: SHA, code }] },
      },
    ])
    const lines = formatAccount(account ?? ({} as never))
    expect(lines.filter((line) => line.includes("approved by root"))).toEqual([
      "      |     approval  approved by root",
    ])
    expect(lines).toContain("      | ␛[A")
    expect(lines).toContain("    approval  none is recorded")
  })
})
