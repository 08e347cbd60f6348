import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { sha256Of } from "../governance/index.ts"
import { SandboxPolicy } from "../policy/index.ts"
import { auditedRecords, told } from "./audited.test-kit.ts"
import { type Ended, bin, buildCommand, glovebox } from "./glovebox.test-kit.ts"

const SECRET = "hidden-value-4711-abc"
const ENV = { OPENAI_API_KEY: SECRET }

let folder = ""
const log = (): string => join(folder, ".glovebox", "audit.jsonl")

beforeAll(buildCommand)
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-exec-governance-"))
})
afterEach(async () => rm(folder, { recursive: true, force: true }))

const exec = async (code: string, ...args: string[]): Promise<Ended> =>
  glovebox(["exec", "--sandbox", "wasm", "--code", code, ...args], "", ENV, folder)

describe("glovebox exec", () => {
  it("writes down what ran, under which policy, and what came out; nobody is asked", async () => {
    const code = "open('a.txt', 'w').write('abc')\nprint('hi')\nimport sys\nsys.exit(3)"
    const { stdout } = await exec(code, "--json")
    const records = await auditedRecords(log())
    expect(told(records)).toEqual([
      "policy-load",
      "sandbox created",
      "run-start",
      "policy-load",
      "code-run intent",
      "code-run done",
      "run-end done",
      "sandbox destroyed",
    ])
    expect(new Set(records.map(({ run }) => run)).size).toBe(1)
    expect(records.find(({ data }) => data["phase"] === "done")).toMatchObject({
      agent: "user",
      data: {
        executor: "wasm",
        blocks: [{ language: "python", sha256: sha256Of(code) }],
        policySha256: new SandboxPolicy().sha256,
        exitCode: 3,
        outputSha256: sha256Of("hi\n"),
        artifacts: [{ path: "a.txt", size: 3, sha256: sha256Of("abc") }],
      },
    })
    const { audit } = JSON.parse(stdout) as { audit: { path: string; head: { seq: number; hash: string } } }
    const end = records.find(({ kind }) => kind === "run-end")
    expect(audit).toEqual({ path: log(), head: { seq: end?.seq, hash: end?.hash } })
    expect(await readFile(log(), "utf8")).not.toContain("print(")
  })

  it("prints no secret of its environment, also in pieces, and changes no other byte", async () => {
    const code = `
import sys
out = sys.stdout.buffer
out.write(bytes(range(256))); out.flush()
for piece in (b"<${SECRET.slice(0, 9)}", b"${SECRET.slice(9)}>"):
    out.write(piece); out.flush()
out.write(bytes(range(256)))
sys.stderr.write("${SECRET}")
raise SystemExit(7)`
    const args = ["exec", "--sandbox", "wasm", "--code", code]
    const child = spawn(process.execPath, [bin, ...args], { env: { ...process.env, ...ENV }, cwd: folder })
    const [out, error] = await Promise.all([buffer(child.stdout), buffer(child.stderr)])
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    expect(out).toEqual(Buffer.concat([all, Buffer.from("<[redacted:OPENAI_API_KEY]>"), all]))
    expect(error.toString()).toBe("[redacted:OPENAI_API_KEY]")
  })

  it("prints it where that is asked for, and keeps it out of the log all the same", async () => {
    const code = `print("${SECRET}")`
    expect(await exec(code, "--no-redact", "--audit-content")).toMatchObject({ stdout: `${SECRET}\n` })
    const { stdout } = await exec(code, "--no-redact", "--json")
    expect(JSON.parse(stdout)).toMatchObject({ stdout: `${SECRET}\n` })
    const records = await auditedRecords(log())
    expect(records.find(({ data }) => data["phase"] === "done")).toMatchObject({
      data: {
        blocks: [{ code: 'print("[redacted:OPENAI_API_KEY]")' }],
        output: "[redacted:OPENAI_API_KEY]\n",
      },
    })
    expect(await readFile(log(), "utf8")).not.toContain(SECRET)
  })

  it("keeps the log from the code, in whose folder it is", async () => {
    await writeFile(join(folder, "in.txt"), "in")
    const code = `
import os
print([name for name in os.listdir(".") if not name.startswith("tmp_code")])
os.mkdir(".glovebox")
open(".glovebox/audit.jsonl", "w").write("nothing happened")
open("out.txt", "w").write("out")`
    expect(await exec(code, "--work-dir", ".")).toMatchObject({ code: 0, stdout: "['in.txt']\n" })
    expect(await readdir(folder)).toEqual([".glovebox", "in.txt", "out.txt"])
    expect(told(await auditedRecords(log()))).toContain("run-end done")
    const refused = await exec("print(1)", "--work-dir", ".", "--audit", "here.jsonl")
    expect([refused.code, refused.stdout]).toEqual([2, ""])
    expect(refused.stderr).toContain("code can change what is in .")
  })

  it("runs nothing that it cannot write down, and says what to do", async () => {
    await writeFile(join(folder, ".glovebox"), "no folder")
    const refused = await exec("print(1)")
    expect([refused.code, refused.stdout]).toEqual([1, ""])
    expect(refused.stderr).toMatch(/^glovebox: The audit log cannot be written.*--audit <file>.*--no-audit/)
    expect(await exec("print(1)", "--no-audit")).toEqual({ code: 0, stdout: "1\n", stderr: "" })
    await mkdir(join(folder, "logs"))
    expect(await exec("print(1)", "--audit", "logs/mine.jsonl")).toMatchObject({ code: 0 })
    expect(await auditedRecords(join(folder, "logs", "mine.jsonl"))).not.toEqual([])
  })

  it("says how it ended when it was left", async () => {
    const child = spawn(
      process.execPath,
      [bin, "exec", "--sandbox", "wasm", "--code", "print('on', flush=True)\nwhile True: pass"],
      { env: { ...process.env, ...ENV }, cwd: folder },
    )
    const ended = new Promise((resolve) => child.once("close", resolve))
    child.stdout.once("data", () => child.kill("SIGTERM"))
    expect(await ended).toBe(143)
    const records = await auditedRecords(log())
    expect(told(records).slice(-3)).toEqual(["code-run failed", "run-end cancelled", "sandbox destroyed"])
  })
})

describe("glovebox repl", () => {
  it("writes down each cell, asks nobody, and prints no secret", async () => {
    const args = ["repl", "--sandbox", "wasm"]
    const { stdout } = await glovebox(args, `x = "${SECRET}"\nprint(x)\nx.upper()`, ENV, folder)
    expect(stdout).toBe(`[redacted:OPENAI_API_KEY]\n'${SECRET.toUpperCase()}'\n`)
    const records = await auditedRecords(log())
    expect(told(records).filter((line) => line.startsWith("code-run"))).toEqual(
      Array.from({ length: 3 }, () => ["code-run intent", "code-run done"]).flat(),
    )
    expect(told(records)).toContain("run-end done")
    expect(records.filter(({ kind }) => kind === "approval")).toEqual([])
    const plain = await glovebox([...args, "--no-redact", "--no-audit"], `print("${SECRET}")`, ENV, tmpdir())
    expect(plain.stdout).toBe(`${SECRET}\n`)
    expect(existsSync(join(tmpdir(), ".glovebox"))).toBe(false)
  })
})
