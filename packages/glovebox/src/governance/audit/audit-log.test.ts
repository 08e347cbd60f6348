import { createHash } from "node:crypto"
import { appendFile, readFile, readdir, rename, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../core/json.ts"
import { AuditLog, auditFiles, verifyAuditLog } from "./index.ts"
import { AuditFolder, note } from "./audit-folder.test-kit.ts"

describe("AuditLog", () => {
  it("has written a record, with its chain, when append resolves", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log({ run: "r1" })
    const first = await log.append({ ...note("one"), agent: "coder" })
    const second = await log.append({ ...note("two"), run: "r2" })
    const records = await folder.records()
    expect(records.map(({ seq, kind, run, agent }) => [seq, kind, run, agent])).toEqual([
      [1, "log", null, null],
      [2, "custom", "r1", "coder"],
      [3, "custom", "r2", null],
    ])
    expect(records[1]).toMatchObject({ v: 1, hash: first.hash, at: first.at, data: { name: "one" } })
    expect(records[2]).toMatchObject({ prev: first.hash, hash: second.hash })
    expect(log.head).toEqual({ seq: 3, hash: second.hash })
  })

  it("hashes what the documentation says: the line without its last field", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(1)
    for (const line of await folder.lines()) {
      const [, hash] = /"hash":"([0-9a-f]{64})"\}$/.exec(line) ?? []
      const body = line.replace(/,"hash":"[0-9a-f]{64}"\}$/, "}")
      expect(createHash("sha256").update(body).digest("hex")).toBe(hash)
    }
  })

  it.each(["group", "record"] as const)("keeps the order of appends with sync %s", async (sync) => {
    await using folder = await AuditFolder.make()
    await folder.write(50, { sync })
    const names = (await folder.records()).flatMap(({ kind, data }) =>
      kind === "custom" ? [data["name"]] : [],
    )
    expect(names).toEqual(Array.from({ length: 50 }, (_, index) => `n${index}`))
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true, records: 52 })
  })

  it("goes on where an earlier writer ended", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(1)
    await folder.write(1)
    expect((await folder.records()).map(({ seq, kind }) => `${seq} ${kind}`)).toEqual([
      "1 log",
      "2 custom",
      "3 checkpoint",
      "4 log",
      "5 custom",
      "6 checkpoint",
    ])
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true, records: 6, expected: { seq: 6 } })
  })

  it("carries the chain over into new files", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log({ maxFileBytes: 600, sync: "record" })
    for (let index = 0; index < 8; index += 1) await log.append(note(`n${index}`))
    await log.close()
    const files = await auditFiles(folder.path)
    expect(files.length).toBeGreaterThan(2)
    expect(files.at(0)).toBe(join(folder.folder, "audit.000001.jsonl"))
    expect(files.at(-1)).toBe(folder.path)
    const old = (await readFile(files[0] ?? "", "utf8")).trim().split("\n").at(-1) ?? ""
    const first = JSON.parse((await readFile(files[1] ?? "", "utf8")).split("\n")[0] ?? "")
    const { hash, seq } = JSON.parse(old)
    expect(first).toMatchObject({
      seq: seq + 1,
      prev: hash,
      kind: "log",
      data: { event: "rotated", previousFile: "audit.000001.jsonl", previousSeq: seq, previousHash: hash },
    })
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true, records: log.head?.seq })
  })

  it("goes on after a death between two files", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(3)
    await rename(folder.path, join(folder.folder, "audit.000001.jsonl"))
    await folder.write(1)
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true, records: 9 })
  })

  it("puts a torn last line aside, and says so", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(2)
    await appendFile(folder.path, '{"v":1,"seq":5,"pr')
    expect((await verifyAuditLog(folder.path)).broken).toMatchObject({ kind: "truncation", seq: 5, line: 5 })
    await using log = folder.log()
    await log.open()
    const { data } = (await folder.records())[4] ?? {}
    const kept = (await readdir(folder.folder)).find((name) => name.includes(".torn-")) ?? ""
    expect(data).toMatchObject({ event: "torn-line", bytes: 18, keptAs: kept })
    expect(await readFile(join(folder.folder, kept), "utf8")).toBe('{"v":1,"seq":5,"pr')
    await log.close()
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true })
  })

  it("begins anew when even the first line is torn", async () => {
    await using folder = await AuditFolder.make()
    await writeFile(folder.path, "\0\0\0\0")
    await folder.write(1)
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true, records: 4 })
  })

  it("tells of a clock that was set back, and keeps the order", async () => {
    await using folder = await AuditFolder.make()
    let now = Date.UTC(2030, 0, 2)
    await using log = folder.log({ now: () => now })
    await log.append(note("before"))
    now = Date.UTC(2030, 0, 1)
    await log.append(note("after"))
    await log.append(note("later"))
    const records = await folder.records()
    expect(records.map(({ data }) => data["event"] ?? data["name"])).toEqual([
      "opened",
      "before",
      "clock-set-back",
      "after",
      "later",
    ])
    expect(records[2]?.data).toMatchObject({
      from: "2030-01-02T00:00:00.000Z",
      to: "2030-01-01T00:00:00.000Z",
    })
    const monos = records.map(({ mono }) => mono)
    expect(monos).toEqual(monos.toSorted((a, b) => a - b))
    await log.close()
    // Also while nobody wrote.
    await folder.write(1, { now: () => Date.UTC(2029, 0, 1) })
    expect((await folder.records()).filter(({ data }) => data["event"] === "clock-set-back")).toHaveLength(2)
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true })
  })

  it("takes secrets out before it writes", async () => {
    await using folder = await AuditFolder.make()
    const redact = (data: JsonObject): JsonObject =>
      JSON.parse(JSON.stringify(data).replaceAll("hunter2", "[secret]"))
    await using log = folder.log({ redact })
    await log.append(note("login", { password: "hunter2" }))
    expect((await folder.records())[1]?.data).toEqual({ name: "login", detail: { password: "[secret]" } })
  })

  it("refuses what is no record, and writes the others", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log({ maxRecordBytes: 2048 })
    const invalid = { code: "AUDIT_RECORD_INVALID" }
    await expect(log.append({ kind: "log", data: {} } as never)).rejects.toMatchObject(invalid)
    await expect(log.append({ kind: "toString", data: {} } as never)).rejects.toMatchObject(invalid)
    await expect(log.append({ kind: "custom", data: { nam: "x" } } as never)).rejects.toMatchObject(invalid)
    await expect(log.append(note("map", { map: new Map() }))).rejects.toMatchObject(invalid)
    await expect(log.append(note("x".repeat(2048)))).rejects.toMatchObject(invalid)
    await expect(log.append(note("fine"))).resolves.toMatchObject({ seq: 2 })
  })

  it("writes what the entry was when it was appended", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log()
    const detail = { cell: "before" }
    const written = log.append(note("x", detail))
    detail.cell = "after"
    await written
    expect((await folder.records())[1]?.data).toMatchObject({ detail: { cell: "before" } })
  })

  it("refuses a second writer, and lets it in when the first is done", async () => {
    await using folder = await AuditFolder.make()
    await using first = folder.log()
    await first.append(note("first"))
    await using second = folder.log()
    await expect(second.append(note("second"))).rejects.toMatchObject({ code: "AUDIT_LOG_LOCKED" })
    await using third = folder.log({ waitForLockMs: 60_000 })
    const waiting = third.append(note("third"))
    await first.close()
    await expect(waiting).resolves.toMatchObject({ seq: 5 })
    await third.close()
    expect((await readdir(folder.folder)).toSorted()).toEqual(["audit.jsonl", "audit.jsonl.head"])
  })

  it("can be closed while it waits for another writer", async () => {
    await using folder = await AuditFolder.make()
    await using first = folder.log()
    await first.open()
    await using second = folder.log({ waitForLockMs: 60_000 })
    const [waiting] = await Promise.allSettled([second.append(note("x")), second.close()])
    expect(waiting).toMatchObject({ status: "rejected", reason: { code: "AUDIT_LOG_CLOSED" } })
  })

  it("writes what waits when it is closed, and refuses the rest", async () => {
    await using folder = await AuditFolder.make()
    const log = folder.log()
    const written = log.append(note("x"))
    await Promise.all([log.close(), log.close(), log[Symbol.asyncDispose]()])
    await expect(written).resolves.toMatchObject({ seq: 2 })
    await expect(log.append(note("y"))).rejects.toMatchObject({ code: "AUDIT_LOG_CLOSED" })
    expect((await folder.records()).at(-1)).toMatchObject({ kind: "checkpoint", data: { reason: "closed" } })
  })

  it("forgets a record that is given up while it waits", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log()
    const controller = new AbortController()
    const first = log.append(note("first"))
    const second = log.append(note("second"), { signal: controller.signal })
    controller.abort(new Error("enough"))
    await expect(second).rejects.toThrow("enough")
    await first
    expect((await folder.records()).map(({ data }) => data["name"])).toEqual([undefined, "first"])
  })

  it("stops when somebody else changed the file", async () => {
    await using folder = await AuditFolder.make()
    const log = folder.log()
    await log.append(note("x"))
    await appendFile(folder.path, "\n")
    await expect(log.append(note("y"))).rejects.toMatchObject({ code: "AUDIT_LOG_BROKEN" })
    await expect(log.append(note("z"))).rejects.toMatchObject({ code: "AUDIT_LOG_BROKEN" })
    await truncate(folder.path, 10)
    await expect(log.close()).rejects.toMatchObject({ code: "AUDIT_LOG_BROKEN" })
    expect(await readFile(folder.path, "utf8")).toHaveLength(10)
  })

  it("stops when somebody moved the file away", async () => {
    await using folder = await AuditFolder.make()
    const log = folder.log()
    await log.append(note("x"))
    await rename(folder.path, `${folder.path}.old`)
    await expect(log.append(note("y"))).rejects.toMatchObject({ code: "AUDIT_LOG_BROKEN" })
    await expect(log.close()).rejects.toMatchObject({ code: "AUDIT_LOG_BROKEN" })
  })

  it("does not append to a log whose end is not what it was", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(3)
    const lines = await folder.lines()
    const broken = { code: "AUDIT_LOG_BROKEN" }
    await folder.setLines(lines.slice(0, -1))
    await expect(folder.write(1)).rejects.toMatchObject(broken)
    await folder.setLines([...lines.slice(0, -1), (lines.at(-1) ?? "").replace("closed", "opened")])
    await expect(folder.write(1)).rejects.toMatchObject(broken)
    await folder.setLines([])
    await expect(folder.write(1)).rejects.toMatchObject(broken)
    await folder.setLines(lines)
    await folder.write(1)
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true })
  })

  it("says what it cannot write to, and is there again when it can", async () => {
    await using folder = await AuditFolder.make()
    const path = join(folder.folder, "file", "audit.jsonl")
    await writeFile(join(folder.folder, "file"), "")
    await using log = new AuditLog({ path })
    await expect(log.append(note("x"))).rejects.toMatchObject({ code: "AUDIT_WRITE_FAILED" })
    await rename(join(folder.folder, "file"), join(folder.folder, "moved"))
    await expect(log.append(note("y"))).resolves.toMatchObject({ seq: 2 })
  })

  it("names a wrong option", () => {
    expect(() => new AuditLog({ path: "x", max_file_bytes: 1 } as never)).toThrow(/did you mean maxFileBytes/)
    expect(() => new AuditLog({ path: "x", signingKey: "secret" })).toThrow(/^signingKey must be a private/)
  })
})
