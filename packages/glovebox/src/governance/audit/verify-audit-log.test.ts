import { generateKeyPairSync } from "node:crypto"
import { appendFile, readFile, rm, writeFile } from "node:fs/promises"
import { describe, expect, it } from "vitest"
import { auditFiles, verifyAuditLog } from "./index.ts"
import { AuditFolder, note } from "./audit-folder.test-kit.ts"
import { attacks, findsEach, forge } from "./attacks.test-kit.ts"
import { readRecord } from "./record-line.ts"

const { privateKey, publicKey } = generateKeyPairSync("ed25519")

describe("verifyAuditLog", () => {
  it.each(attacks)("finds %s anywhere, and names the place", async (_, attack) => {
    expect(await findsEach(attack, 6)).toBe(true)
  })

  it("knows a whole log, and how far it had come", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(5)
    const verification = await verifyAuditLog(folder.path)
    expect(verification).toMatchObject({ ok: true, records: 7, head: { seq: 7 }, expected: { seq: 7 } })
    expect(await verifyAuditLog(await auditFiles(folder.path))).toMatchObject({
      ok: true,
      expected: undefined,
    })
    expect(await verifyAuditLog([])).toMatchObject({ ok: true, records: 0, head: undefined })
  })

  it("sees a cut end only by a head", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(5)
    const { head } = await verifyAuditLog(folder.path)
    await folder.setLines((await folder.lines()).slice(0, 3))
    expect((await verifyAuditLog(folder.path)).broken).toMatchObject({ kind: "truncation", seq: 4 })
    expect(await verifyAuditLog(folder.path, { head: false })).toMatchObject({ ok: true, records: 3 })
    await rm(`${folder.path}.head`)
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true, records: 3 })
    expect((await verifyAuditLog(folder.path, { head })).broken).toMatchObject({ kind: "truncation", seq: 4 })
  })

  it("finds a head by its hash alone, and tells what it covers", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(5, { now: () => 0 })
    const { head: { hash } = { hash: "" }, firstAt, lastAt } = await verifyAuditLog(folder.path)
    expect([firstAt, lastAt]).toEqual([new Date(0).toISOString(), new Date(0).toISOString()])
    expect(await verifyAuditLog(folder.path, { head: { hash } })).toMatchObject({ ok: true })
    await folder.setLines((await folder.lines()).slice(0, 3))
    const cut = await verifyAuditLog(folder.path, { head: { hash } })
    expect(cut).toMatchObject({ ok: false, records: 3, broken: { kind: "truncation", seq: 4 } })
    expect(cut.broken?.isTorn).toBeUndefined()
    await appendFile(folder.path, "{")
    expect((await verifyAuditLog(folder.path)).broken).toMatchObject({ kind: "truncation", isTorn: true })
  })

  it("sees a log that was written anew by a head, or by a key", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(3, { signingKey: privateKey })
    await using other = await AuditFolder.make()
    await other.write(9)
    await folder.setLines(await other.lines())
    expect((await verifyAuditLog(folder.path)).broken).toMatchObject({ kind: "edit", seq: 6 })
    const anew = await verifyAuditLog(folder.path, { publicKey, head: false })
    expect(anew.broken).toMatchObject({ kind: "signature" })
  })

  it("checks signed checkpoints with the public key", async () => {
    await using folder = await AuditFolder.make()
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString()
    await folder.write(9, { signingKey: pem, checkpointEvery: 4 })
    await folder.write(1, { signingKey: privateKey, checkpointEvery: 4 })
    const spki = publicKey.export({ type: "spki", format: "pem" }).toString()
    const { head, ...verification } = await verifyAuditLog(folder.path, { publicKey: spki })
    expect(verification).toMatchObject({ ok: true, signedThrough: head?.seq })
    const stranger = generateKeyPairSync("ed25519").publicKey
    expect((await verifyAuditLog(folder.path, { publicKey: stranger })).broken).toMatchObject({
      kind: "signature",
      seq: 2,
    })
  })

  it("asks for the next signed checkpoint in time", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(3, { signingKey: privateKey, checkpointEvery: 4 })
    const lines = await folder.lines()
    const forged = lines.slice(0, 2)
    // Whoever has no key can write on after a checkpoint, but not for long.
    for (let seq = 3; seq < 40; seq += 1) {
      const last = readRecord(Buffer.from(forged.at(-1) ?? ""))
      forged.push(
        forge(lines[2] ?? "", { seq, prev: last?.hash ?? "", kind: "custom", data: { name: "forged" } }),
      )
    }
    await folder.setLines(forged)
    expect(await verifyAuditLog(folder.path, { head: false })).toMatchObject({ ok: true })
    const { broken } = await verifyAuditLog(folder.path, { head: false, publicKey })
    expect(broken).toMatchObject({ kind: "signature", seq: 23 })
  })

  it("refuses a head that the key did not sign", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(3, { signingKey: privateKey })
    const head = JSON.parse(await readFile(`${folder.path}.head`, "utf8"))
    const earlier = readRecord(Buffer.from((await folder.lines())[3] ?? ""))
    await writeFile(
      `${folder.path}.head`,
      JSON.stringify({ ...head, seq: earlier?.seq, hash: earlier?.hash }),
    )
    expect((await verifyAuditLog(folder.path, { publicKey })).broken).toMatchObject({
      kind: "signature",
      seq: 4,
    })
  })

  it("goes over rotated files, and finds one that is gone", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log({ maxFileBytes: 500, sync: "record" })
    for (let index = 0; index < 9; index += 1) await log.append(note(`n${index}`))
    await log.close()
    const files = await auditFiles(folder.path)
    const first = (await readFile(files[0] ?? "", "utf8")).trim().split("\n")
    const last = readRecord(Buffer.from(first.at(-1) ?? ""))
    const seq = (last?.seq ?? 0) + 1
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true, files })
    const broken = { kind: "deletion", seq: 1, file: files[1], line: 1 }
    expect((await verifyAuditLog(files.slice(1))).broken).toMatchObject(broken)
    expect(
      await verifyAuditLog(files.slice(1), { after: { seq: seq - 1, hash: last?.hash ?? "" } }),
    ).toMatchObject({
      ok: true,
    })
    await rm(files[1] ?? "")
    expect((await verifyAuditLog(folder.path)).broken).toMatchObject({
      kind: "deletion",
      seq,
      file: files[2],
    })
  })

  it("stops when aborted", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(1)
    const signal = AbortSignal.abort(new Error("enough"))
    await expect(verifyAuditLog(folder.path, { signal })).rejects.toThrow("enough")
  })
})
