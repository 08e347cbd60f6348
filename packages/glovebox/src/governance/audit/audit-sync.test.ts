import { type FileHandle, open } from "node:fs/promises"
import { setImmediate as turn } from "node:timers/promises"
import { afterEach, describe, expect, it, vi } from "vitest"
import { AuditFolder, note } from "./audit-folder.test-kit.ts"
import { verifyAuditLog } from "./index.ts"

/** What every open file of this process has its methods from. */
async function fileHandles(): Promise<FileHandle> {
  await using handle = await open(import.meta.filename)
  return Object.getPrototypeOf(handle) as FileHandle
}

describe("an audit log and its disk", () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it.each([
    ["group", 1],
    ["record", 3],
  ] as const)("says that records are written when the disk has them, with sync %s", async (sync, times) => {
    await using folder = await AuditFolder.make()
    await using log = folder.log({ sync })
    await log.append(note("first"))
    const order: string[] = []
    const handles = await fileHandles()
    const datasync = vi.spyOn(handles, "datasync")
    datasync.mockImplementation(async function (this: FileHandle) {
      await turn()
      await this.sync()
      order.push("on the disk")
    })
    await Promise.all(["a", "b", "c"].map((name) => log.append(note(name)).then(() => order.push(name))))
    const expected = times === 1 ? ["a", "b", "c"] : ["a", "on the disk", "b", "on the disk", "c"]
    expect(order).toEqual(["on the disk", ...expected])
  })

  it("takes back what the disk did not take", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log()
    await log.append(note("first"))
    vi.spyOn(await fileHandles(), "datasync").mockRejectedValueOnce(new Error("EIO: i/o error, fdatasync"))
    await expect(log.append(note("lost"))).rejects.toMatchObject({ code: "AUDIT_WRITE_FAILED" })
    expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true, records: 2 })
    await log.append(note("next"))
    const records = await folder.records()
    expect(records.map(({ data }) => data["name"] ?? data["event"])).toEqual([
      "opened",
      "first",
      "write-recovered",
      "next",
    ])
  })
})
