import { appendFile } from "node:fs/promises"
import { describe, expect, it } from "vitest"
import { type ReadAuditLogOptions, exportAuditLog, formatAuditRecord, readAuditLog } from "./index.ts"
import { AuditFolder, note } from "./audit-folder.test-kit.ts"

async function namesOf(path: string, options: ReadAuditLogOptions): Promise<unknown[]> {
  const names: unknown[] = []
  for await (const { data } of readAuditLog(path, { kind: "custom", ...options })) names.push(data["name"])
  return names
}

async function joined(parts: AsyncIterable<string>): Promise<string> {
  let text = ""
  for await (const part of parts) text += part
  return text
}

describe("readAuditLog", () => {
  it("filters by kind, run, agent, time, text and number", async () => {
    await using folder = await AuditFolder.make()
    let now = Date.UTC(2030, 0, 1)
    await using log = folder.log({ now: () => now })
    await log.append({ ...note("a"), run: "r1", agent: "x" })
    now += 1000
    await log.append({ ...note("b", { said: 'Größe "1"\n' }), run: "r1", agent: "y" })
    now += 1000
    await log.append({ ...note("c"), run: "r2", agent: "y" })
    await log.append({ kind: "run-end", data: { outcome: "done" } })
    const { path } = folder
    expect(await namesOf(path, {})).toEqual(["a", "b", "c"])
    expect(await namesOf(path, { run: "r1" })).toEqual(["a", "b"])
    expect(await namesOf(path, { agent: "y" })).toEqual(["b", "c"])
    expect(await namesOf(path, { text: 'grösse "1"\n'.replace("ss", "ß") })).toEqual(["b"])
    expect(await namesOf(path, { from: "2030-01-01T00:00:01Z" })).toEqual(["b", "c"])
    expect(await namesOf(path, { to: new Date(Date.UTC(2030, 0, 1)) })).toEqual(["a"])
    expect(await namesOf(path, { last: 2 })).toEqual(["b", "c"])
    expect(await namesOf(path, { where: ({ data }) => data["name"] !== "b" })).toEqual(["a", "c"])
    expect(await namesOf(path, { kind: ["run-end", "checkpoint"] })).toEqual([undefined])
    await expect(namesOf(path, { from: "soon" })).rejects.toMatchObject({ code: "OPTION_INVALID" })
  })

  it("passes over nothing when files get full while it reads", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log({ maxFileBytes: 500, sync: "record" })
    for (const name of ["a", "b", "c", "d"]) await log.append(note(name))
    const seqs: number[] = []
    for await (const { seq } of readAuditLog(folder.path)) {
      seqs.push(seq)
      if (seqs.length < 4) await Promise.all(["x", "y", "z"].map((name) => log.append(note(name))))
    }
    expect(seqs.length).toBeGreaterThan(12)
    expect(seqs).toEqual(seqs.map((_, index) => index + 1))
  })

  it("takes no line for a record that nobody could write again", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(1)
    const [line = ""] = await folder.lines()
    const deep = line.replace('"data":{', `"data":{"deep":${"[".repeat(50_000)}${"]".repeat(50_000)},`)
    await folder.setLines([line, deep])
    const damage: unknown[] = []
    await namesOf(folder.path, { onDamage: (found) => damage.push(found) })
    expect(damage).toEqual([{ file: folder.path, line: 2 }])
  })

  it("follows a log over its files, after the last records", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log({ maxFileBytes: 500, sync: "record" })
    await log.append(note("a"))
    await log.append(note("b"))
    const names: unknown[] = []
    const controller = new AbortController()
    const records = readAuditLog(folder.path, {
      kind: "custom",
      follow: true,
      last: 1,
      signal: controller.signal,
    })
    for await (const { data } of records) {
      names.push(data["name"])
      if (names.length === 1) await Promise.all(["c", "d", "e", "f"].map((name) => log.append(note(name))))
      if (names.length === 5) break
    }
    expect(names).toEqual(["b", "c", "d", "e", "f"])
  })

  it("passes over nothing when files get full while it follows", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log({ maxFileBytes: 1_000, sync: "record" })
    const following = (async () => {
      const names: unknown[] = []
      for await (const { data } of readAuditLog(folder.path, { kind: "custom", follow: true })) {
        names.push(data["name"])
        if (names.at(-1) === "n99") break
      }
      return names
    })()
    const written = Array.from({ length: 100 }, (_, index) => `n${index}`)
    for (const name of written) await log.append(note(name))
    expect(await following).toEqual(written)
  })

  it("follows a log that is not there yet, until aborted", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log()
    const controller = new AbortController()
    const records = readAuditLog(folder.path, { kind: "custom", follow: true, signal: controller.signal })
    const first = records.next()
    await log.append(note("first"))
    expect((await first).value).toMatchObject({ data: { name: "first" } })
    const second = records.next()
    controller.abort(new Error("enough"))
    await expect(second).rejects.toThrow("enough")
  })

  it("stops at a line that is no record, or tells of it", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(1)
    await appendFile(folder.path, "nonsense\nand a line that is being writ")
    await expect(namesOf(folder.path, {})).rejects.toMatchObject({ code: "AUDIT_LOG_BROKEN" })
    const damage: unknown[] = []
    expect(await namesOf(folder.path, { onDamage: (found) => damage.push(found) })).toEqual(["n0"])
    expect(damage).toEqual([{ file: folder.path, line: 4 }])
  })
})

describe("formatAuditRecord", () => {
  it("makes one line in which nothing hides", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log({ run: "r1", now: () => 0 })
    await log.append({
      ...note("\u001b[2Jgone\u202e\n", { a: "x".repeat(300), hash: "a".repeat(64) }),
      agent: "x\ny",
    })
    const line = formatAuditRecord((await folder.records())[1] ?? ({} as never))
    expect(line).toMatch(
      /^1970-01-01T00:00:00.000Z #2 custom \[r1\/x␊y\] name="\\u001b\[2Jgone<U\+202E>\\n" /,
    )
    expect(line.length).toBeLessThan(400)
  })

  it("keeps to a line that can be read, whatever a record holds", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log()
    const detail = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`field ${index}`, index]))
    await log.append(note("many", detail))
    const record = (await folder.records())[1] ?? ({} as never)
    expect(formatAuditRecord({ ...record, data: { ...detail, ["x".repeat(9000)]: 1 } }).length).toBe(4000)
  })
})

describe("exportAuditLog", () => {
  it("makes a JSON array, or CSV that no spreadsheet runs", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log()
    await log.append({ ...note("x"), run: "=1+1", agent: 'a "b", c' })
    const records = await folder.records()
    expect(JSON.parse(await joined(exportAuditLog(readAuditLog(folder.path), "json")))).toEqual(records)
    expect(JSON.parse(await joined(exportAuditLog(readAuditLog([]), "json")))).toEqual([])
    const [header, , row] = (await joined(exportAuditLog(readAuditLog(folder.path), "csv"))).split("\r\n")
    expect(header).toBe("seq,at,mono,run,agent,kind,summary,data,prev,hash")
    expect(await joined(exportAuditLog(readAuditLog(folder.path), "jsonl"))).toBe(
      `${(await folder.lines()).join("\n")}\n`,
    )
    expect(row).toContain(`,'=1+1,"a ""b"", c",custom,name=x,"{""name"":""x""}",`)
  })

  it.each(["=1", "+1", "-1", "@a", "\t=1", "\n=1", "  =1", "＝1"])(
    "leaves no formula of %j in CSV",
    async (agent) => {
      await using folder = await AuditFolder.make()
      await using log = folder.log()
      await log.append({ ...note("x"), agent })
      const csv = await joined(exportAuditLog(readAuditLog(folder.path, { kind: "custom" }), "csv"))
      expect(csv).toMatch(new RegExp(`,"?'${agent.replace("+", String.raw`\+`)}"?,custom,`))
    },
  )
})
