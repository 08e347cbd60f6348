import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { randomInt } from "node:crypto"
import { open, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { once } from "node:events"
import { describe, expect, it } from "vitest"
import { auditFiles, verifyAuditLog } from "./index.ts"
import { AuditFolder, note } from "./audit-folder.test-kit.ts"
import { attacks, findsEach } from "./attacks.test-kit.ts"
import { sealRecord } from "./record-line.ts"

const INDEX = new URL("index.ts", import.meta.url).href

/** A process that runs this with a log; what it prints comes line by line. */
class Writer implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown>
  readonly lines: AsyncIterator<string>

  constructor(options: object, program: string, prefix: readonly string[] = []) {
    const source = `
      import { once } from "node:events"
      import { AuditLog } from ${JSON.stringify(INDEX)}
      const log = new AuditLog(${JSON.stringify(options)})
      const note = (name) => ({ kind: "custom", data: { name, detail: { text: "x".repeat(200) } } })
      const print = (...words) => process.stdout.write(words.join(" ") + "\\n")
      const told = () => once(process.stdin, "data")
      ${program}
      process.exit(0)`
    const node = [process.execPath, "--import", "tsx", "--input-type=module", "-e", source]
    const [command = "", ...args] = [...prefix, ...node]
    this.#child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
    this.#exit = once(this.#child, "close")
    if (!this.#child.stdout) throw new Error("no output")
    this.lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async line(): Promise<string> {
    const { value, done } = await this.lines.next()
    if (done === true) throw new Error("The writer ended.")
    return value
  }

  tell(): void {
    this.#child.stdin?.write("on\n")
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL")
    await this.#exit
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

describe("AuditLog when things go wrong", () => {
  it("has every record that it acknowledged after its process was killed at any moment", async () => {
    await using folder = await AuditFolder.make(tmpdir())
    const acknowledged = new Map<number, string>()
    for (let round = 0; round < 8; round += 1) {
      await using writer = new Writer(
        { path: folder.path, maxFileBytes: 100_000, checkpointEvery: 50 },
        `const loop = async () => {
           for (;;) {
             const { seq, hash } = await log.append(note("n"))
             print(seq, hash)
           }
         }
         await Promise.all(Array.from({ length: 7 }, loop))`,
      )
      const until = randomInt(1, 800)
      for (let count = 0; count < until; count += 1)
        await writer
          .line()
          .then((line) => line.split(" "))
          .then(([seq, hash]) => acknowledged.set(Number(seq), hash ?? ""))
      await writer.kill()
      for (let next = await writer.lines.next(); next.done !== true; next = await writer.lines.next()) {
        const [seq, hash] = next.value.split(" ")
        if (hash?.length === 64) acknowledged.set(Number(seq), hash)
      }
    }
    await folder.write(1)
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true })
    const written = new Map((await folder.records()).map(({ seq, hash }) => [seq, hash]))
    expect([...acknowledged].filter(([seq, hash]) => written.get(seq) !== hash)).toEqual([])
    expect(acknowledged.size).toBeGreaterThan(8)
  })

  it("reports nothing as written on a full disk, and goes on when there is room", async () => {
    await using folder = await AuditFolder.make(tmpdir())
    // Not so small that the program itself could not be loaded.
    const limit = 2_000_000
    await using writer = new Writer(
      { path: folder.path },
      `const fifty = () => Promise.all(Array.from({ length: 50 }, (_, index) => log.append(note("n" + index))))
       let last
       try {
         for (;;) last = await fifty()
       } catch (error) {
         print("full", error.code, last.at(-1).seq)
       }
       await fifty().catch((error) => print("refused", error.code))
       await told()
       print("again", (await log.append(note("again"))).seq)
       await log.close()
       print("closed")`,
      ["prlimit", `--fsize=${limit}:unlimited`],
    )
    const [full, code, last] = (await writer.line()).split(" ")
    expect([full, code]).toEqual(["full", "AUDIT_WRITE_FAILED"])
    expect(await writer.line()).toBe("refused AUDIT_WRITE_FAILED")
    expect((await stat(folder.path)).size).toBeLessThanOrEqual(limit)
    // What was half written is not there any more.
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true, records: Number(last) })
    spawnSync("prlimit", ["--pid", String(writer.pid), "--fsize=unlimited:unlimited"])
    writer.tell()
    expect(await writer.line()).toMatch(/^again /)
    expect(await writer.line()).toBe("closed")
    const records = await folder.records()
    const recovered = records.findIndex(({ data }) => data["event"] === "write-recovered")
    expect(records[recovered]).toMatchObject({ data: { refused: 100 } })
    expect(records[recovered - 1]?.seq).toBe(Number(last))
    expect(records[recovered + 1]?.data).toMatchObject({ name: "again" })
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true })
  })

  it("lets one of two processes write, and the other when the first is killed", async () => {
    await using folder = await AuditFolder.make(tmpdir())
    await using writer = new Writer(
      { path: folder.path },
      `await log.append(note("a")); print("held"); await told()`,
    )
    expect(await writer.line()).toBe("held")
    await using refused = folder.log()
    const locked = { code: "AUDIT_LOG_LOCKED", message: expect.stringContaining(`Process ${writer.pid} `) }
    await expect(refused.append(note("b"))).rejects.toMatchObject(locked)
    await using waiting = folder.log({ waitForLockMs: 60_000 })
    const written = waiting.append(note("c"))
    await writer.kill()
    await expect(written).resolves.toMatchObject({ seq: 4 })
    await waiting.close()
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true })
  })

  it("keeps one chain when several processes take turns", async () => {
    await using folder = await AuditFolder.make(tmpdir())
    const program = `for (let turn = 0; turn < 10; turn += 1) {
      const log = new AuditLog({ path: ${JSON.stringify(folder.path)}, waitForLockMs: 60_000 })
      await log.append(note("n"))
      await log.close()
    }
    print("done")`
    const writers = [1, 2, 3].map(() => new Writer({ path: folder.path }, program))
    try {
      for (const writer of writers) expect(await writer.line()).toBe("done")
    } finally {
      await Promise.all(writers.map((writer) => writer.kill()))
    }
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true, records: 90 })
  })

  it("takes ten thousand records at once", async () => {
    await using folder = await AuditFolder.make(tmpdir())
    await folder.write(10_000)
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true, records: 10_012 })
  })

  it("is verified in flat memory", async () => {
    await using folder = await AuditFolder.make(tmpdir())
    const file = join(folder.folder, "large.jsonl")
    const records = 300_000
    const handle = await open(file, "w")
    let prev = "0".repeat(64)
    let part = ""
    for (let seq = 1; seq <= records; seq += 1) {
      const data = JSON.stringify({ name: "x".repeat(200) })
      const frame = { run: "r", agent: null, kind: "custom", at: "2030-01-01T00:00:00.000Z", mono: seq }
      const { line, hash } = sealRecord({ seq, prev, data, ...frame })
      prev = hash
      part += line
      if (part.length > 1_000_000) {
        await handle.write(part)
        part = ""
      }
    }
    await handle.write(part)
    await handle.close()
    const program = join(folder.folder, "verify.mjs")
    await writeFile(
      program,
      `import { verifyAuditLog } from ${JSON.stringify(INDEX)}
       const { maxRSS: before } = process.resourceUsage()
       const { ok, records } = await verifyAuditLog([${JSON.stringify(file)}])
       const { maxRSS: after } = process.resourceUsage()
       console.log(ok, records, after - before)`,
    )
    const node = ["--import", import.meta.resolve("tsx"), program]
    const { stdout, stderr } = spawnSync(process.execPath, node, { encoding: "utf8" })
    expect(stderr).toBe("")
    const [ok, count, growthKiB] = stdout.trim().split(" ")
    expect([ok, count]).toEqual(["true", String(records)])
    expect(Number(growthKiB) * 1024).toBeLessThan((await stat(file)).size / 2)
  })
})

describe("verifyAuditLog", () => {
  it.each(attacks)("finds %s in hundreds of tries", async (_, attack) => {
    expect(await findsEach(attack, 300)).toBe(true)
  })
})

it("no pipe in the place of a log or of its head is waited for", async () => {
  await using folder = await AuditFolder.make()
  spawnSync("mkfifo", [folder.path, join(folder.folder, "other.jsonl.head")])
  const broken = { code: "AUDIT_LOG_BROKEN" }
  await expect(verifyAuditLog(folder.path)).rejects.toMatchObject(broken)
  await expect(folder.records()).rejects.toMatchObject(broken)
  await expect(verifyAuditLog(join(folder.folder, "other.jsonl"))).rejects.toMatchObject(broken)
})

it("auditFiles lists nothing where nothing is", async () => {
  expect(await auditFiles("/nowhere/audit.jsonl")).toEqual([])
})
