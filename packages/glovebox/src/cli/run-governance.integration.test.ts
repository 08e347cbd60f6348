import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile, readdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { type AuditRecord, readAuditLog, verifyAuditLog } from "../governance/index.ts"
import { TEST_KEY } from "../models/server-subject.test-kit.ts"
import { type Ended, bin, buildCommand, glovebox } from "./glovebox.test-kit.ts"
import { JobBench, runs, says } from "./job.test-kit.ts"
import { Terminal } from "./terminal.test-kit.ts"

beforeAll(async () => {
  await buildCommand()
})

const TOOLS = ["--model", "openai/gpt-4o", "--sandbox", "wasm"]
const TOKEN = "tok-live-98765-zyxwvu"
const LOG = join(".glovebox", "audit.jsonl")

async function run(bench: JobBench, ...args: readonly string[]): Promise<Ended> {
  return glovebox(["run", ...TOOLS, ...args], "", bench.env, bench.folder)
}

async function recordsIn(path: string): Promise<readonly AuditRecord[]> {
  const records: AuditRecord[] = []
  for await (const record of readAuditLog(path)) records.push(record)
  return records
}

/** All that is in the folder, in one text. */
async function allFiles(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return (
    await Promise.all(files.map(async ({ parentPath, name }) => readFile(join(parentPath, name), "utf8")))
  ).join("\n")
}

describe("glovebox run, and its log", () => {
  it("writes down all that happens, before it says so, by hashes", async () => {
    await using bench = await JobBench.open(runs("print(6 * 7)"), says("42."))
    const { code, stdout } = await run(bench, "--json", "What is six times seven?")
    expect(code).toBe(0)
    const path = join(bench.folder, LOG)
    const records = await recordsIn(path)
    expect(
      records.map(({ kind, data }) =>
        [
          kind,
          ...["phase", "event", "outcome"]
            .map((field) => data[field])
            .filter((value) => typeof value === "string"),
        ].join(" "),
      ),
    ).toEqual([
      "log opened",
      "policy-load",
      "sandbox created",
      "run-start",
      "model-call intent",
      "model-call done",
      "tool-call intent",
      "approval request",
      "approval decision",
      "policy-load",
      "code-run intent",
      "code-run done",
      "tool-call done",
      "model-call intent",
      "model-call done",
      "run-end done",
      "sandbox destroyed",
      "checkpoint",
    ])
    expect(await readFile(path, "utf8")).not.toMatch(/print\(6|six times/)
    const { audit } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as {
      readonly audit: {
        readonly path: string
        readonly head: { readonly seq: number; readonly hash: string }
      }
    }
    expect(audit.path).toBe(path)
    expect(await verifyAuditLog(path, { head: audit.head })).toMatchObject({ ok: true })
    expect(records[audit.head.seq - 1]?.kind).toBe("run-end")
  })

  it("writes down what a model without tools has run, and asks once about it", async () => {
    await using bench = await JobBench.open(says("I run:\n```python\nprint(6 * 7)\n```\n"), says("42."))
    const args = ["run", "--model", "openai/some-model", "--sandbox", "wasm", "Six times seven?"]
    expect((await glovebox(args, "", bench.env, bench.folder)).code).toBe(0)
    const records = await recordsIn(join(bench.folder, LOG))
    const of = (kind: string, phase: string): readonly AuditRecord[] =>
      records.filter((record) => record.kind === kind && record.data["phase"] === phase)
    const [decision, ...others] = of("approval", "decision")
    expect([decision?.data["by"], others]).toEqual(["default rule 1", []])
    expect(of("code-run", "done")).toMatchObject([
      { data: { exitCode: 0, codeSha256: decision?.data["sha256"] } },
    ])
  })

  it("keeps content where that is asked for, in the file that is named, or nothing at all", async () => {
    await using bench = await JobBench.open(runs("print(6 * 7)"), says("42."), says("43."))
    await run(bench, "--audit", "logs/mine.jsonl", "--audit-content", "What is six times seven?")
    const text = await readFile(join(bench.folder, "logs", "mine.jsonl"), "utf8")
    for (const part of ["print(6 * 7)", "six times seven", "42."]) expect(text).toContain(part)
    const { code, stderr } = await run(bench, "--no-audit", "And one more?")
    expect(code).toBe(0)
    expect(stderr).not.toContain("recorded in")
    expect(await readdir(bench.folder)).toEqual(["logs"])
  })

  it("goes on with the log of the last time", async () => {
    await using bench = await JobBench.open(says("A."), says("B."))
    await run(bench, "One.")
    await run(bench, "Two.")
    const path = join(bench.folder, LOG)
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true })
    expect((await recordsIn(path)).filter(({ kind }) => kind === "run-start")).toHaveLength(2)
  })

  it("is not kept from work by a chat that has the log, and loses no record", async () => {
    await using bench = await JobBench.open(says("Hello."), says("Beside."))
    const chat = new Terminal(["chat", ...TOOLS], { env: bench.env, cwd: bench.folder })
    await chat.until("> ")
    await chat.type("Say hello.\r", "Hello.")
    await chat.until("> ")
    const { code, stdout, stderr } = await run(bench, "Go.")
    expect([code, stdout]).toEqual([0, "Beside.\n"])
    expect(stderr).toMatch(/another process writes \S+audit\.jsonl, so this one writes \S+audit-2\.jsonl/)
    chat.write("\u0004")
    expect(await chat.code).toBe(0)
    for (const [name, command] of [
      ["audit.jsonl", "chat"],
      ["audit-2.jsonl", "run"],
    ] as const) {
      const path = join(bench.folder, ".glovebox", name)
      expect(await verifyAuditLog(path)).toMatchObject({ ok: true })
      expect((await recordsIn(path)).filter(({ kind }) => kind === "run-start")).toMatchObject([
        { data: { command } },
      ])
    }
    // Whoever checks the logs is not to know of the second.
    const audit = async (...args: readonly string[]): Promise<Ended> =>
      glovebox(["audit", ...args], "", bench.env, bench.folder)
    const checked = await audit("verify")
    expect(checked.code).toBe(0)
    expect(checked.stdout).toMatch(/audit\.jsonl is whole[^]*audit-2\.jsonl is whole/)
    expect((await audit("verify", "--json")).stderr).toMatch(/there is more.*audit-2\.jsonl/)
    const second = join(bench.folder, ".glovebox", "audit-2.jsonl")
    await writeFile(second, (await readFile(second, "utf8")).replace('"command":"run"', '"command":"ran"'))
    expect((await audit("verify")).code).toBe(1)
  })

  it("runs nothing that cannot be recorded, and says what to do", async () => {
    await using bench = await JobBench.open(says("A."))
    const { code, stderr } = await run(bench, "--audit", "/dev/null/audit.jsonl", "Go.")
    expect([code, bench.server.requests.length]).toEqual([1, 0])
    expect(stderr).toMatch(/nothing runs unrecorded: .*--audit <file>.*--no-audit/)
  })

  it("does nothing more when its record cannot be written any more", async () => {
    await using bench = await JobBench.open(says("One."), says("Two."))
    const chat = new Terminal(["chat", ...TOOLS], { env: bench.env, cwd: bench.folder })
    await chat.until("> ")
    await chat.type("First.\r", "One.")
    await chat.until("> ")
    const folder = join(bench.folder, ".glovebox")
    for (const name of await readdir(folder)) if (name.includes(".lock-")) await rm(join(folder, name))
    await chat.type("Second.\r", "was taken away")
    await chat.until("> ")
    expect(bench.server.requests).toHaveLength(1)
    chat.write("\u0004")
    await chat.code
  })

  it("records that it was ended by others", async () => {
    await using bench = await JobBench.open({ type: "silence" })
    const child = spawn(process.execPath, [bin, "run", ...TOOLS, "Go."], {
      env: { ...process.env, ...bench.env },
      cwd: bench.folder,
    })
    await bench.server.nextRequest()
    child.kill("SIGINT")
    expect(await once(child, "close")).toEqual([130, null])
    const path = join(bench.folder, LOG)
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true })
    expect((await recordsIn(path)).findLast(({ kind }) => kind === "run-end")).toMatchObject({
      data: { outcome: "cancelled" },
    })
  })

  it("records who approved, what was denied, and what was made of it", async () => {
    await using bench = await JobBench.open(runs("print('as written')"), runs("print('ran')"), says("Done."))
    const editor = await bench.write("editor.sh", '#!/bin/sh\necho "print(\'as edited\')" > "$1"\n')
    const terminal = new Terminal(["run", ...TOOLS, "--approve", "ask", "--audit-content", "Go."], {
      env: { ...bench.env, VISUAL: `sh ${editor}` },
      cwd: bench.folder,
    })
    await terminal.until("Allow it?")
    await terminal.type("e\r", "Allow it?")
    await terminal.type("y\r", "Allow it?")
    terminal.write("n it prints\r")
    expect(await terminal.code).toBe(0)
    const records = await recordsIn(join(bench.folder, LOG))
    const decisions = records.filter(({ kind, data }) => kind === "approval" && data["phase"] === "decision")
    expect(decisions).toMatchObject([
      { data: { decision: "edited", payload: { codeBlocks: [{ code: "print('as edited')\n" }] } } },
      { data: { decision: "denied", reason: "it prints" } },
    ])
    const ran = records.filter(({ kind, data }) => kind === "code-run" && data["phase"] === "done")
    expect(ran).toMatchObject([{ data: { output: "as edited\n", codeSha256: decisions[0]?.data["sha256"] } }])
  })
})

describe("glovebox run and chat, and keys", () => {
  it("lets no key out: not from the task, the model, a server's error, nor into the log", async () => {
    await using bench = await JobBench.open(
      runs(`print("${TEST_KEY.slice(0, 14)}" + "${TEST_KEY.slice(14)}")`),
      says("It is ", TEST_KEY.slice(0, 10), TEST_KEY.slice(10), "."),
      says("It is ", TEST_KEY.slice(0, 10), TEST_KEY.slice(10), "."),
      { type: "status", status: 400, message: `${TEST_KEY} and ${TOKEN} are odd` },
    )
    const plain = await run(bench, "--audit-content", `My key is ${TEST_KEY}.`)
    expect([plain.code, plain.stdout]).toEqual([0, "It is [redacted:OPENAI_API_KEY].\n"])
    const json = await run(bench, "--json", "--audit-content", "What is my key?")
    const env = { ...bench.env, SERVICE_TOKEN: TOKEN }
    const failed = await glovebox(["run", ...TOOLS, "Go."], "", env, bench.folder)
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain("and [redacted:SERVICE_TOKEN] are odd")
    const told = [plain, json, failed].flatMap(({ stdout, stderr }) => [stdout, stderr])
    const asked = bench.server.requests.map(({ body }) => body)
    for (const text of [...told, ...asked, await allFiles(bench.folder)]) {
      // Also not in two pieces.
      expect(text).not.toContain(TEST_KEY.slice(10))
      expect(text).not.toContain(TOKEN)
    }
    for (const line of json.stdout.trim().split("\n")) expect(() => JSON.parse(line) as unknown).not.toThrow()
  })

  it("keeps none in a chat, nor in what was typed", async () => {
    await using bench = await JobBench.open(says("I see."))
    const chat = new Terminal(["chat", ...TOOLS], { env: bench.env, cwd: bench.folder })
    await chat.until("> ")
    await chat.type(`My key is ${TEST_KEY}.\r`, "I see.")
    await chat.until("> ")
    chat.write("\u0004")
    expect(await chat.code).toBe(0)
    const kept = await allFiles(bench.folder)
    expect(kept).toContain("My key is [redacted:OPENAI_API_KEY].")
    expect(kept).not.toContain(TEST_KEY)
  })

  it("keeps none that a model says or writes into code, and goes on with what is kept", async () => {
    await using bench = await JobBench.open(
      runs(`key = "${TEST_KEY}"`),
      says("It is ", TEST_KEY.slice(0, 10), TEST_KEY.slice(10), "."),
      says("Still here."),
    )
    const chat = async (input: string): Promise<Ended> =>
      glovebox(["chat", ...TOOLS], input, bench.env, bench.folder)
    expect((await chat("What is it?\n/save said.md\n")).code).toBe(0)
    const kept = await allFiles(bench.folder)
    expect(kept).toContain("It is [redacted:OPENAI_API_KEY].")
    expect(kept).not.toContain(TEST_KEY)
    expect((await chat("And now?\n")).stdout).toBe("Still here.\n")
    expect(JSON.stringify(bench.lastMessages())).toContain('key = \\\\\\"[redacted:OPENAI_API_KEY]')
  })

  it("does not mind a key that a server asks for and ignores", async () => {
    await using bench = await JobBench.open(says("Fine."))
    const model = `{ provider: openai, name: gpt-4o, api_key_env: ANY, base_url: "${bench.env["OPENAI_BASE_URL"]}" }`
    await bench.write("glovebox.config.yaml", `model: ${model}\n`)
    const env = { ...bench.env, ANY: "xxxxxxxx" }
    const { stdout } = await glovebox(["run", "--sandbox", "wasm", "Go."], "", env, bench.folder)
    expect(stdout).toBe("Fine.\n")
  })

  it("hides what the configuration names, whatever the variable is called", async () => {
    await using bench = await JobBench.open(says("It is plain-sight-42."))
    await bench.write("glovebox.config.yaml", "redaction: { values_from_env: [WHERE] }\n")
    const env = { ...bench.env, WHERE: "plain-sight-42" }
    const { stdout } = await glovebox(["run", ...TOOLS, "Where?"], "", env, bench.folder)
    expect(stdout).toBe("It is [redacted:WHERE].\n")
  })
})

describe("glovebox run, and the rules of a project", () => {
  it("does not let a file that was only found switch the log off", async () => {
    await using bench = await JobBench.open(says("A."), says("B."))
    const config = await bench.write("glovebox.config.yaml", "audit: false\n")
    const { code, stderr } = await run(bench, "Go.")
    expect([code, bench.server.requests.length]).toEqual([1, 0])
    expect(stderr).toMatch(/found and not named, asks to keep no audit log .*--config/)
    expect((await run(bench, "--config", config, "Go.")).code).toBe(0)
    expect(await readdir(bench.folder)).toEqual(["glovebox.config.yaml"])
  })

  it("follows its rules: what an agent may use, and which languages run", async () => {
    await using bench = await JobBench.open(
      runs("print('ran')"),
      says("Then not."),
      runs("print('ran')"),
      says("Nor so."),
    )
    const access = await bench.write(
      "access.yaml",
      "access: { rules: [{ agents: assistant, tools: execute_code, executors: docker }] }\n",
    )
    await run(bench, "--config", access, "Go.")
    expect(JSON.stringify(bench.lastMessages().at(-1))).toMatch(/may not/)
    const deny = await bench.write(
      "deny.yaml",
      "approval: { rules: [{ when: { language: python }, then: deny }] }\n",
    )
    await run(bench, "--config", deny, "--approve", "always", "Go.")
    expect(JSON.stringify(bench.lastMessages().at(-1))).toMatch(/not approved/)
    const records = await recordsIn(join(bench.folder, LOG))
    expect(records.filter(({ kind }) => kind === "access-denied")).toMatchObject([
      { agent: "assistant", data: { target: "executor wasm" } },
    ])
    expect(records.some(({ kind }) => kind === "code-run")).toBe(false)
  })
})
