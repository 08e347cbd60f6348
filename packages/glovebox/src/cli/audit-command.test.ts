import { generateKeyPairSync } from "node:crypto"
import { mkdir, readFile, readdir, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { AuditFolder, note } from "../governance/audit/audit-folder.test-kit.ts"
import { recordDemoRun } from "./audit/demo-run.test-kit.ts"
import { main } from "./main.ts"

let out = ""
let err = ""
let folder: AuditFolder

beforeEach(async () => {
  folder = await AuditFolder.make()
  out = ""
  err = ""
  vi.spyOn(process.stdout, "write").mockImplementation((text) => (out += String(text)) !== "")
  vi.spyOn(process.stderr, "write").mockImplementation((text) => (err += String(text)) !== "")
})

afterEach(async () => {
  vi.restoreAllMocks()
  await folder[Symbol.asyncDispose]()
})

const audit = (name: string, ...args: string[]): Promise<number> =>
  main(["node", "glovebox", "audit", name, ...args])

async function writeDemo(): Promise<void> {
  await using log = folder.log()
  await recordDemoRun(log, "run-7")
  await recordDemoRun(log, "run-8")
}

async function outOf(name: string, ...args: string[]): Promise<string> {
  out = ""
  expect(await audit(name, folder.path, ...args)).toBe(0)
  return out
}

const count = (text: string): number => text.split("\n").length - 1

describe("glovebox audit show", () => {
  it("prints a line for each record, or the lines of the log as they are", async () => {
    await writeDemo()
    expect(count(await outOf("show"))).toBe(24)
    expect(out.split("\n")[1]).toMatch(/^\S+Z #2 run-start \[run-7\] command="glovebox run" /)
    expect(await outOf("show", "--json")).toBe(await readFile(folder.path, "utf8"))
    expect(err).toBe("")
  })

  it("filters by kind, run, agent, time, id, text, denial and number, all together", async () => {
    await writeDemo()
    expect(count(await outOf("show", "--kind", "approval,egress", "--kind", "log"))).toBe(11)
    expect(count(await outOf("show", "--run", "run-8"))).toBe(11)
    expect(count(await outOf("show", "--agent", "coder"))).toBe(18)
    expect(count(await outOf("show", "--id", "ask-of-run-7"))).toBe(2)
    expect(count(await outOf("show", "--denied", "--run", "run-7"))).toBe(1)
    expect(out).toContain("host=evil.test")
    expect(count(await outOf("show", "--text", "ALICE", "--last", "1"))).toBe(1)
    expect(out).toContain("[run-8/coder]")
    expect(count(await outOf("show", "--since", "1h"))).toBe(24)
    expect(err).toBe("")
    expect(await outOf("show", "--until", "1h")).toBe("")
    expect(err).toBe("glovebox: no record fits\n")
  })

  it("shows a broken log, and says that it is", async () => {
    await writeDemo()
    const lines = await folder.lines()
    await folder.setLines([...lines.slice(0, 3), "nonsense", ...lines.slice(4)])
    expect(count(await outOf("show"))).toBe(23)
    expect(err).toContain("warning: this log is not as it was written: edit. Record 4 was changed")
    expect(err).toContain("line 4 of ")
    await writeFile(`${folder.path}.head`, "nonsense")
    expect(count(await outOf("show"))).toBe(23)
    expect(err).toContain("warning: this log cannot be verified. ")
  })

  it.each(["show", "tail", "verify", "export", "report"])(
    "%s says what it cannot read, and exits with 3",
    async (name) => {
      const args = name === "tail" ? ["--no-follow"] : []
      const missing = join(folder.folder, "none.jsonl")
      expect(await audit(name, missing, ...args)).toBe(3)
      expect(err).toBe(`glovebox: There is no audit log ${missing}.\n`)
      err = ""
      expect(await audit(name, folder.folder, ...args)).toBe(3)
      expect(err).toContain("is a folder")
    },
  )

  it("says that there are no records", async () => {
    await writeFile(folder.path, "")
    for (const name of ["show", "verify", "export", "report"]) {
      err = ""
      expect(await audit(name, folder.path)).toBe(3)
      expect(err).toBe(`glovebox: ${folder.path} holds no records.\n`)
    }
  })

  it("exits with 2 when it is called wrongly", async () => {
    await writeDemo()
    const { path } = folder
    expect(await audit("show", path, "--kind", "egres")).toBe(2)
    expect(err).toContain('"egres" is no kind of record')
    expect(await audit("show", path, "--since", "soon")).toBe(2)
    expect(await audit("show", path, "--last", "-1")).toBe(2)
    expect(await audit("verify", path, "--head", "abc".repeat(3), "--after", "7")).toBe(3)
    expect(await audit("verify", path, "--after", "7")).toBe(2)
    expect(await audit("verify", path, "--key", path)).toBe(2)
    expect(await audit("export", path, "--format", "xml")).toBe(2)
    expect(out).toBe("")
  })
})

describe("glovebox audit verify", () => {
  it("says what it covers", async () => {
    await using log = folder.log({ maxFileBytes: 1000, sync: "record" })
    await recordDemoRun(log)
    await log.close()
    expect(await audit("verify", folder.path)).toBe(0)
    expect(out).toMatch(
      /^\S+ is whole\.\n {2}files {7}\S+\.000001\.jsonl, .*audit\.jsonl\n {2}records {5}\d+, \S+Z to \S+Z\n/,
    )
    expect(out).toMatch(/head {8}\d+:[0-9a-f]{64}\n/)
    expect(out).toContain("reaches the head beside the log")
    expect(JSON.parse(await outOf("verify", "--json"))).toMatchObject({ ok: true, signatures: 0 })
  })

  it("checks signatures with a key", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519")
    await folder.write(3, { signingKey: privateKey })
    expect(await outOf("verify")).toContain("signatures  2, which were not checked: --key does")
    const key = join(folder.folder, "key.pem")
    await writeFile(key, publicKey.export({ type: "spki", format: "pem" }))
    expect(await outOf("verify", "--key", key)).toContain("signatures  by this key up to record 6")
    await writeFile(key, generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" }))
    expect(await audit("verify", folder.path, "--key", key)).toBe(1)
    expect(out).toContain("broken      signature at record 2")
  })

  it("takes a head that was kept elsewhere, and sees by it what nothing beside the log shows", async () => {
    await folder.write(5)
    const kept = join(folder.folder, "kept.json")
    await writeFile(kept, await outOf("verify", "--json"))
    const { hash, seq } = (JSON.parse(out) as { head: { hash: string; seq: number } }).head
    const lines = await folder.lines()
    await folder.setLines(lines.slice(0, 4))
    await writeFile(
      `${folder.path}.head`,
      JSON.stringify({ v: 1, at: "", seq: 4, hash: JSON.parse(lines[3] ?? "").hash }),
    )
    expect(await outOf("verify")).toContain("is whole.")
    for (const head of [hash, `${seq}:${hash}`, kept]) {
      out = ""
      expect(await audit("verify", folder.path, "--head", head)).toBe(1)
      expect(out).toContain("broken      truncation at record 5")
    }
    await folder.setLines(lines)
    for (const head of [hash, `${seq}:${hash}`, kept]) await outOf("verify", "--head", head)
  })

  it("knows a log of which only its head is left", async () => {
    await folder.write(2)
    await mkdir(join(folder.folder, "away"))
    await writeFile(join(folder.folder, "away", "audit.jsonl.head"), await readFile(`${folder.path}.head`))
    expect(await audit("verify", join(folder.folder, "away", "audit.jsonl"))).toBe(1)
    expect(out).toContain("broken      truncation at record 1")
  })
})

describe("glovebox audit export", () => {
  it("writes each format, with a statement beside it", async () => {
    await writeDemo()
    const file = join(folder.folder, "out")
    await outOf("export", "--out", `${file}.json`, "--run", "run-7")
    await outOf("export", "--out", `${file}.jsonl`)
    await outOf("export", "--out", `${file}.csv`, "--denied")
    expect(JSON.parse(await readFile(`${file}.json`, "utf8"))).toHaveLength(11)
    expect(await readFile(`${file}.jsonl`, "utf8")).toBe(await readFile(folder.path, "utf8"))
    expect(count(await readFile(`${file}.csv`, "utf8"))).toBe(3)
    expect((await stat(`${file}.csv`)).mode & 0o777).toBe(0o600)
    const statement: unknown = JSON.parse(await readFile(`${file}.json.verification.json`, "utf8"))
    expect(statement).toMatchObject({
      format: "json",
      filters: { run: "run-7" },
      records: 11,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      verification: { ok: true, records: 24, head: { seq: 24 } },
    })
    expect((await readdir(folder.folder)).filter((name) => name.endsWith(".part"))).toEqual([])
  })

  it("prints to stdout without --out, and the statement in short beside it", async () => {
    await writeDemo()
    expect(JSON.parse(await outOf("export", "--last", "2"))).toHaveLength(2)
    expect(err).toMatch(/^glovebox: exported 2 records; the log is whole up to 24:[0-9a-f]{64}; /)
  })

  it("prints JSON for programs: the statement with --out, else the records", async () => {
    await writeDemo()
    const file = join(folder.folder, "out.csv")
    const statement = JSON.parse(await outOf("export", "--json", "--last", "2", "--out", file)) as unknown
    expect(statement).toMatchObject({ format: "csv", records: 2, verification: { ok: true } })
    expect(JSON.parse(await readFile(`${file}.verification.json`, "utf8"))).toEqual(statement)
    expect(err).toBe("")
    expect(JSON.parse(await outOf("export", "--json", "--last", "2"))).toHaveLength(2)
    expect(await audit("export", folder.path, "--json", "--format", "csv")).toBe(2)
  })

  it("replaces only what it is told to, and never the log", async () => {
    await writeDemo()
    const before = await readFile(folder.path, "utf8")
    expect(await audit("export", folder.path, "--out", folder.path, "--force")).toBe(2)
    expect(await audit("export", folder.path, "--out", `${folder.path}.head`, "--force")).toBe(2)
    const file = join(folder.folder, "out.json")
    await writeFile(file, "mine")
    expect(await audit("export", folder.path, "--out", file)).toBe(1)
    expect(err).toContain("is there already; --force replaces it")
    expect(await readFile(file, "utf8")).toBe("mine")
    await outOf("export", "--out", file, "--force")
    expect(await readFile(folder.path, "utf8")).toBe(before)
    expect((await readdir(folder.folder)).filter((name) => name.endsWith(".part"))).toEqual([])
  })

  it("states that a log is broken", async () => {
    await folder.write(5)
    await folder.setLines((await folder.lines()).toSpliced(3, 1))
    const file = join(folder.folder, "out.json")
    await outOf("export", "--out", file)
    expect(err).toContain("the log is NOT as it was written")
    const statement: unknown = JSON.parse(await readFile(`${file}.verification.json`, "utf8"))
    expect(statement).toMatchObject({ verification: { ok: false, broken: { kind: "deletion", seq: 4 } } })
  })
})

describe("glovebox audit report", () => {
  it("tells of each run, after whether the log is whole", async () => {
    await writeDemo()
    expect(await outOf("report")).toMatch(/^\S+ is whole\.\n[^]*\nRun run-7\n[^]*\nRun run-8\n/)
    expect(await outOf("report", "--run", "run-8")).not.toContain("run-7")
    const { verification, runs } = JSON.parse(await outOf("report", "--json")) as {
      verification: unknown
      runs: unknown[]
    }
    expect(verification).toMatchObject({ ok: true })
    expect(runs).toMatchObject([{ run: "run-7", end: { outcome: "done" } }, { run: "run-8" }])
  })

  it("says first that a log is broken, and exits with 1", async () => {
    await writeDemo()
    await folder.setLines((await folder.lines()).map((line) => line.replace("alice", "mallory")))
    expect(await audit("report", folder.path)).toBe(1)
    expect(out).toMatch(/^\S+ is NOT as it was written\.\n {2}broken {6}edit at record 5\n/)
  })

  it("says that nothing is recorded of a run", async () => {
    await folder.write(1)
    await outOf("report", "--run", "other")
    expect(err).toBe("glovebox: nothing is recorded of run other\n")
  })
})

describe("glovebox audit tail", () => {
  it("prints the last records and ends, when told so", async () => {
    await using log = folder.log()
    for (let index = 0; index < 15; index += 1) await log.append(note(`n${index}`))
    expect(count(await outOf("tail", "--no-follow"))).toBe(10)
    expect(await outOf("tail", "--no-follow", "-n", "1")).toContain("name=n14")
  })
})
