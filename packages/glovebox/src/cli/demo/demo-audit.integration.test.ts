import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type AuditRecord, readAuditLog, sha256Of, verifyAuditLog } from "../../governance/index.ts"
import { IMAGE, buildCommand, docker, glovebox } from "../glovebox.test-kit.ts"
import { NOTHING } from "../job.test-kit.ts"
import { readDemoPrograms } from "./demo-files.ts"

const { DOCKER_HOST: _here, ...KEYLESS } = NOTHING

let folder = ""
let stdout = ""
let exitCode: number | null = null
let path = ""
let records: readonly AuditRecord[] = []

beforeAll(async () => {
  await buildCommand()
  folder = await mkdtemp(join(tmpdir(), "glovebox-demo-audit-"))
  const args = ["run", "--demo", "--image", IMAGE, "--out", join(folder, "out")]
  ;({ code: exitCode, stdout } = await glovebox(args, "", KEYLESS, folder))
  path = join(folder, ".glovebox", "audit.jsonl")
  const read: AuditRecord[] = []
  for await (const record of readAuditLog(path)) read.push(record)
  records = read
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

/** What the records of a kind say, as far as a test asks for it. */
function dataOf(kind: string): readonly Readonly<Record<string, unknown>>[] {
  return records.filter((record) => record.kind === kind).map(({ data }) => data)
}

const doneRuns = (): readonly Readonly<Record<string, unknown>>[] =>
  dataOf("code-run").filter(({ phase }) => phase === "done")

/** A reviewer who has the log and nothing else. */
describe("the audit log of glovebox run --demo", () => {
  it("is whole, and the demonstration says where it is and how to check that", async () => {
    expect(exitCode).toBe(0)
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true })
    expect(stdout).toContain("All of it is in .glovebox/audit.jsonl")
    expect(stdout).toContain("npx glovebox audit verify")
    expect((await glovebox(["audit", "verify"], "", KEYLESS, folder)).code).toBe(0)
    const { stdout: report } = await glovebox(["audit", "report"], "", KEYLESS, folder)
    for (const told of ["approved by the demonstration", "collect.example.net", "ValueError", IMAGE])
      expect(report).toContain(told)
    // A log that somebody changed does not pass.
    const text = await readFile(path, "utf8")
    const changed = join(folder, "changed.jsonl")
    await writeFile(changed, text.replace("the demonstration", "the administrator"))
    expect(await verifyAuditLog(changed)).toMatchObject({ ok: false })
  })

  it("tells what was asked, and that it came to its end", () => {
    expect(dataOf("run-start")).toMatchObject([
      { command: "run --demo", task: expect.stringContaining("Which region ordered most") as string },
    ])
    expect(dataOf("run-end")).toMatchObject([{ outcome: "done" }])
    expect(
      new Set(records.filter(({ kind }) => kind !== "log" && kind !== "checkpoint").map(({ run }) => run))
        .size,
    ).toBe(1)
  })

  it("tells what code ran, whole and by its hash", async () => {
    const { first, second, upload } = await readDemoPrograms()
    const ran = [first, second, upload("http://collect.example.net/orders")]
    expect(doneRuns().map(({ blocks }) => blocks)).toEqual(
      ran.map((code) => [{ language: "python", code, sha256: sha256Of(code) }]),
    )
  })

  it("tells under which policy, and in which image", async () => {
    const [policy] = dataOf("policy-load")
    expect(policy).toMatchObject({
      widenings: ["network: none -> allow rates.example:443"],
      policy: { network: { allow: ["rates.example:443"] }, readOnlyRoot: true },
    })
    const imageDigest = await docker("image", "inspect", "--format", "{{.Id}}", IMAGE)
    for (const run of doneRuns()) {
      expect(run).toMatchObject({ policySha256: policy?.["sha256"], image: IMAGE, imageDigest })
      expect(run).toMatchObject({ effective: { network: expect.stringMatching(/^none/) as string } })
    }
    const started = dataOf("sandbox").filter(({ event }) => event === "started")
    for (const { containerId } of doneRuns()) {
      expect(started).toContainEqual(expect.objectContaining({ containerId, imageDigest }))
    }
    const gone = dataOf("sandbox").filter(({ event }) => event === "destroyed")
    expect(new Set(gone.map(({ containerId }) => containerId))).toEqual(
      new Set(started.map(({ containerId }) => containerId)),
    )
  })

  it("tells what it tried to reach", () => {
    expect(dataOf("egress")).toMatchObject([
      {
        state: "denied",
        id: doneRuns()[2]?.["id"],
        host: "collect.example.net",
        port: 80,
        verdict: "denied",
        denial: { code: "NOT_ALLOWED" },
      },
    ])
  })

  it("tells who approved each of the runs", () => {
    const decisions = dataOf("approval").filter(({ phase }) => phase === "decision")
    expect(decisions).toMatchObject(
      doneRuns().map(({ codeSha256 }) => ({
        decision: "approved",
        by: "the demonstration",
        sha256: codeSha256,
      })),
    )
  })

  it("tells what came out", async () => {
    expect(doneRuns()).toMatchObject([
      { exitCode: 1, output: expect.stringContaining("ValueError: could not convert") as string },
      { exitCode: 0, output: expect.stringContaining("184 orders") as string },
      { exitCode: 1, output: expect.stringContaining("not sent: ") as string },
    ])
    const report = await readFile(join(folder, "out", "report.md"))
    expect(doneRuns()[1]?.["artifacts"]).toContainEqual({
      path: "report.md",
      size: report.length,
      sha256: sha256Of(report),
    })
  })
})
