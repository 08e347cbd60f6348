import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { type AuditRecord, type GateRequest, listApprovals, sha256Of } from "../governance/index.ts"
import { auditedRecords, told } from "./audited.test-kit.ts"
import { buildCommand, glovebox, startGlovebox, useOwnFolder } from "./glovebox.test-kit.ts"
import {
  type McpClient,
  connectMcp,
  startMcp,
  startMcpAs,
  textOf,
  useOwnTemporaryFolder,
} from "./mcp-client.test-kit.ts"
import { Terminal } from "./terminal.test-kit.ts"

const SECRET = "hidden-value-4711-abc"
const LOG = join(".glovebox", "audit.jsonl")
const WASM = ["--sandbox", "wasm"]
const FOREVER = "print('on', flush=True)\nwhile True: pass"

let removeTemporary = async (): Promise<void> => {}
let leave = async (): Promise<void> => {}

beforeAll(async () => {
  await buildCommand()
  removeTemporary = await useOwnTemporaryFolder()
})
afterAll(async () => removeTemporary())
beforeEach(async () => {
  leave = await useOwnFolder()
})
afterEach(async () => leave())

/** A call that is on: its code has begun. */
async function begin({ client }: McpClient): Promise<{ readonly ended: Promise<unknown> }> {
  return new Promise((resolve) => {
    const call = { name: "run_code", arguments: { code: FOREVER } }
    const ended = client
      .callTool(call, { onprogress: () => resolve({ ended }) })
      .catch((error: unknown) => error)
  })
}

const callsOf = (records: readonly AuditRecord[]): unknown[] =>
  records.filter(({ kind }) => kind === "tool-call").map(({ data }) => [data["tool"], data["phase"]])

describe("glovebox mcp", () => {
  it("writes down who called what, and what ran", async () => {
    const at = await startMcpAs({ name: "Claude Desktop / β" }, ...WASM)
    await at.call("write_file", { path: "in.txt", content: "7" })
    const code = "print(6 * int(open('in.txt').read()))"
    await at.call("run_code", { code })
    await at.call("read_file", { path: "none" })
    await at[Symbol.asyncDispose]()
    const records = await auditedRecords(LOG)
    expect(told(records).filter((line) => !/^(?:approval|policy|tool-call)/.test(line))).toEqual([
      "run-start",
      "sandbox created",
      "code-run intent",
      "code-run done",
      "sandbox destroyed",
      "run-end done",
    ])
    expect(callsOf(records)).toEqual([
      ["write_file", "intent"],
      ["write_file", "done"],
      ["run_code", "intent"],
      ["run_code", "done"],
      ["read_file", "intent"],
      ["read_file", "done"],
    ])
    expect(new Set(records.flatMap(({ agent }) => agent ?? []))).toEqual(new Set(["mcp:Claude-Desktop-"]))
    expect(records.find(({ kind }) => kind === "run-start")).toMatchObject({
      data: { command: "mcp", details: { client: "Claude Desktop / β", sandbox: "wasm" } },
    })
    expect(records.find(({ kind, data }) => kind === "code-run" && data["phase"] === "done")).toMatchObject({
      data: { blocks: [{ sha256: sha256Of(code) }], exitCode: 0, outputSha256: sha256Of("42\n") },
    })
  })

  it("lets no secret of its environment out, by whatever way", async () => {
    const at = await startMcpAs({ env: { OPENAI_API_KEY: SECRET } }, ...WASM)
    const code = `
import time
for piece in ("<${SECRET.slice(0, 9)}", "${SECRET.slice(9)}>"):
    print(piece, end="", flush=True)
    time.sleep(0.3)
open("${SECRET}.txt", "w").write("${SECRET}")
raise RuntimeError("${SECRET}")`
    const live: unknown[] = []
    const run = { name: "run_code", arguments: { code } }
    const path = `${SECRET}.txt`
    const answers = [
      await at.client.callTool(run, { onprogress: ({ message }) => void live.push(message) }),
      await at.call("list_files"),
      await at.call("read_file", { path }),
      await at.call("get_artifact", { path }),
      await at.call("read_file", { path: `${SECRET}/x` }),
    ]
    await at[Symbol.asyncDispose]()
    for (const left of [live, ...answers].map((item) => JSON.stringify(item))) {
      expect(left).not.toContain(SECRET)
      expect(left).toContain("[redacted:OPENAI_API_KEY]")
    }
    expect(await readFile(LOG, "utf8")).not.toContain(SECRET)
  })

  it("says what its policy allowed, by the name of whoever allowed it", async () => {
    await writeFile("wide.json", JSON.stringify({ env: { GREETING: "hello" } }))
    const at = await startMcp(...WASM, "--policy", "wide.json")
    const ran = await at.call("run_code", { code: "import os\nprint(os.environ['GREETING'])" })
    expect(textOf(ran)).toBe("hello")
    await at[Symbol.asyncDispose]()
    const records = await auditedRecords(LOG)
    expect(records.find(({ data }) => data["phase"] === "decision")).toMatchObject({
      data: { decision: "approved", by: "--policy wide.json" },
    })
    expect(records.find(({ kind }) => kind === "policy-load")).toMatchObject({
      data: { source: "--policy wide.json", widenings: [expect.stringContaining("env")] },
    })
  })

  it("keeps to the rules of a configuration that is named", async () => {
    const access = { rules: [{ agents: "mcp:test", tools: ["run_code", "list_files"], executors: "wasm" }] }
    const approval = { rules: [{ when: { language: "javascript" }, then: "ask" }] }
    const fields = { sandbox: "wasm", policy: { env: { GREETING: "hello" } }, access, approval }
    await writeFile("glovebox.config.json", JSON.stringify(fields))
    const at = await startMcp("--config", "glovebox.config.json")
    expect(textOf(await at.call("run_code", { code: "import os\nprint(os.environ['GREETING'])" }))).toBe(
      "hello",
    )
    // Nobody is there to be asked.
    const javascript = { language: "javascript", code: "console.log(1)" }
    expect(await at.call("run_code", javascript)).toMatchObject({ isError: true })
    const refused = await at.call("write_file", { path: "a", content: "a" })
    expect(refused.isError).toBe(true)
    expect(textOf(await at.call("list_files"))).toBe("There are no files.")
    await at[Symbol.asyncDispose]()
    const records = await auditedRecords(LOG)
    expect(records.find(({ kind }) => kind === "access-denied")).toMatchObject({ agent: "mcp:test" })
    expect(records.flatMap(({ data }) => data["decision"] ?? [])).toEqual(["approved", "denied"])
  })

  it("waits for whoever answers in a folder, where code can reach more", async () => {
    await writeFile("wide.json", JSON.stringify({ env: { GREETING: "hello" } }))
    await using at = await startMcp(...WASM, "--policy", "wide.json", "--approvals", "asked")
    const approvals = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await glovebox(["approvals", ...args, "--folder", "asked"])
      expect([code, stderr]).toEqual([0, ""])
      return stdout
    }
    const answer = async (...said: string[]): Promise<void> => {
      await expect.poll(async () => (await listApprovals("asked")).length, { timeout: 30_000 }).toBe(1)
      expect(await approvals("list")).toMatch(
        /asked for by mcp:test[^]*env: absent -> GREETING[^]*print\(\d\)/,
      )
      const [request] = JSON.parse(await approvals("list", "--json")) as [GateRequest]
      expect(await approvals("answer", request.id, ...said, "--sha256", request.sha256)).toContain(request.id)
      expect(await approvals("list")).toBe("Nothing waits for an answer.\n")
    }
    const denied = at.call("run_code", { code: "print(1)" })
    await answer("deny", "--reason", "not today")
    expect(await denied).toMatchObject({ isError: true })
    expect(textOf(await denied)).toContain("not today")
    const approved = at.call("run_code", { code: "print(2)" })
    await answer("approve")
    expect(textOf(await approved)).toBe("2")
    const looked = at.call("run_code", { code: "print(3)" })
    await expect.poll(async () => (await listApprovals("asked")).length, { timeout: 30_000 }).toBe(1)
    const person = new Terminal(["approvals", "answer", "--folder", "asked"], { cwd: process.cwd() })
    await person.until("print(3)")
    await person.type("y\r", "y")
    expect(await person.code).toBe(0)
    expect(textOf(await looked)).toBe("3")
    expect((await auditedRecords(LOG)).flatMap(({ data }) => data["decision"] ?? [])).toEqual([
      "denied",
      "approved",
      "approved",
    ])
  })

  it("refuses a call that it cannot write down, and goes on", async () => {
    await using at = await startMcp(...WASM)
    await at.call("list_files")
    const limit = (bytes: number | "unlimited"): unknown =>
      spawnSync("prlimit", ["--pid", String(at.pid), `--fsize=${bytes}:unlimited`])
    // As on a disk that is full.
    limit((await stat(LOG)).size)
    for (const [tool, args] of [
      ["run_code", { code: "print('ran')" }],
      ["write_file", { path: "a", content: "a" }],
    ] as const) {
      const refused = await at.call(tool, args)
      expect(refused.isError).toBe(true)
      expect(textOf(refused)).toContain("could not be written")
    }
    limit("unlimited")
    expect(textOf(await at.call("list_files"))).toBe("There are no files.")
    expect(callsOf(await auditedRecords(LOG)).length).toBe(4)
  })

  it("leaves a whole log when it is killed in a call, and goes on with it", async () => {
    const at = await startMcp(...WASM)
    const { ended } = await begin(at)
    process.kill(at.pid ?? 0, "SIGKILL")
    await ended
    await at[Symbol.asyncDispose]()
    expect(told(await auditedRecords(LOG)).at(-1)).toBe("code-run intent")
    await using next = await startMcp(...WASM)
    await next.call("list_files")
    expect(new Set((await auditedRecords(LOG)).map(({ run }) => run)).size).toBe(2)
  })

  it("ends the record of a call that is on when its client goes", async () => {
    const at = await startMcp(...WASM)
    const { ended } = await begin(at)
    await at[Symbol.asyncDispose]()
    await ended
    expect(told(await auditedRecords(LOG)).slice(-4)).toEqual([
      "code-run failed",
      "tool-call failed",
      "sandbox destroyed",
      "run-end done",
    ])
  })

  it("does not start without a log", async () => {
    await writeFile(".glovebox", "no folder")
    const refused = await glovebox(["mcp", ...WASM])
    expect(refused).toMatchObject({ code: 1, stdout: "" })
    expect(refused.stderr).toMatch(/^glovebox: The audit log cannot be written.*--audit <file>.*--no-audit/)
    await using at = await startMcp(...WASM, "--no-audit")
    expect(textOf(await at.call("run_code", { code: "print(1)" }))).toBe("1")
  })

  it("does not start with a log that code could change", async () => {
    await using at = await startMcp(...WASM, "--work-dir", ".")
    for (const path of [LOG, ".glovebox"]) {
      expect(await at.call("write_file", { path, content: "" })).toMatchObject({ isError: true })
      expect(await at.call("read_file", { path })).toMatchObject({ isError: true })
    }
    expect(textOf(await at.call("list_files"))).toBe("There are no files.")
    const refused = await glovebox(["mcp", ...WASM, "--work-dir", ".", "--audit", "log.jsonl"])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("code can change") as string })
  })
})

describe("glovebox mcp --http", () => {
  it("has a run for each session, in one log, complete when it is ended", async () => {
    const token = "0123456789abcdef0123"
    process.env["GLOVEBOX_MCP_TOKEN"] = token
    const child = startGlovebox("mcp", ...WASM, "--http", "0")
    const exited = once(child, "exit")
    const [line] = (await once(child.stderr.setEncoding("utf8"), "data")) as [string]
    const url = /http:\S+\/mcp/.exec(line)?.[0] ?? line
    await using one = await connectMcp(url, token)
    await using two = await connectMcp(url, token)
    await one.call("run_code", { code: "print(1)" })
    // The server's own token is a secret like others.
    expect(textOf(await two.call("run_code", { code: `print("${token}")` }))).toContain("[redacted:")
    await begin(two)
    child.kill("SIGTERM")
    expect(await exited).toEqual([0, null])
    const records = await auditedRecords(LOG)
    const runs = [...new Set(records.map(({ run }) => run))].map((id) =>
      records.filter(({ run }) => run === id),
    )
    expect(runs.length).toBe(2)
    for (const run of runs) expect([told(run)[0], told(run).at(-1)]).toEqual(["run-start", "run-end done"])
    expect(told(runs[1] ?? []).filter((kind) => kind.startsWith("code-run"))).toEqual([
      "code-run intent",
      "code-run done",
      "code-run intent",
      "code-run failed",
    ])
  })
})
