import { symlink } from "node:fs/promises"
import { describe, expect, it } from "vitest"
import { AuditFolder, note } from "../../governance/audit/audit-folder.test-kit.ts"
import { findLog } from "./find-log.ts"

describe("findLog", () => {
  it("finds a log at every moment while its files are full and get other names", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log({ maxFileBytes: 1_000 })
    await log.append(note("first"))
    const written = new AbortController()
    const writing = (async () => {
      for (let count = 0; count < 50; count += 1) await log.append(note("x".repeat(900)))
    })().finally(() => written.abort())
    const found: string[] = []
    while (!written.signal.aborted) found.push(await findLog(folder.path))
    await writing
    expect(new Set(found)).toEqual(new Set([folder.path]))
  })

  it("refuses a link to nothing, in a moment", async () => {
    await using folder = await AuditFolder.make()
    await symlink("nowhere", folder.path)
    await expect(findLog(folder.path)).rejects.toThrow(/audit\.jsonl cannot be read: ENOENT/)
  })
})
