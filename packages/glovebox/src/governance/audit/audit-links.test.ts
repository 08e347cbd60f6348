import { createHash } from "node:crypto"
import { appendFile, readFile, rename, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { AuditFolder, note } from "./audit-folder.test-kit.ts"
import { verifyAuditLog } from "./index.ts"

describe("an audit log among links that somebody else made", () => {
  it("appends to no file behind a link", async () => {
    await using folder = await AuditFolder.make()
    await writeFile(join(folder.folder, "other"), "")
    await symlink("other", folder.path)
    await expect(folder.log().append(note("x"))).rejects.toMatchObject({ code: "AUDIT_LOG_BROKEN" })
  })

  it("writes its head over no other file, though a link to that is in its place", async () => {
    await using folder = await AuditFolder.make()
    const other = join(folder.folder, "other")
    await writeFile(other, "of somebody else")
    await symlink(other, `${folder.path}.head.part`)
    await folder.write(1)
    expect(await readFile(other, "utf8")).toBe("of somebody else")
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true, expected: { seq: 3 } })
  })

  it("puts a torn line into no other file", async () => {
    await using folder = await AuditFolder.make()
    await folder.write(1)
    const torn = Buffer.from('{"v":1')
    const other = join(folder.folder, "other")
    await writeFile(other, "of somebody else")
    await symlink(
      other,
      `${folder.path}.torn-4-${createHash("sha256").update(torn).digest("hex").slice(0, 8)}`,
    )
    await appendFile(folder.path, torn)
    await folder.write(1)
    expect(await readFile(other, "utf8")).toBe("of somebody else")
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true })
  })

  it.each(["a link", "an endless file"])("takes %s for no head", async (what) => {
    await using folder = await AuditFolder.make()
    await folder.write(1)
    const head = `${folder.path}.head`
    await rename(head, `${head}.kept`)
    await symlink(what === "a link" ? `${head}.kept` : "/dev/zero", head)
    const broken = { code: "AUDIT_LOG_BROKEN" }
    await expect(folder.log().append(note("x"))).rejects.toMatchObject(broken)
    await expect(verifyAuditLog(folder.path)).rejects.toMatchObject(broken)
  })
})
