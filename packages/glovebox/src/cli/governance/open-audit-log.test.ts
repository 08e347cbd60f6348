import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type AuditLog, verifyAuditLog } from "../../governance/index.ts"
import { openAuditLog } from "./open-audit-log.ts"

let folder = ""
const notes: string[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-open-log-"))
  notes.length = 0
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function open(path?: string): Promise<AuditLog> {
  const { signal } = new AbortController()
  return openAuditLog({ path, folder, note: (line) => notes.push(line), signal, waitMs: 0 })
}

describe("openAuditLog", () => {
  it("keeps the log in a folder that is its user's alone and is not checked in", async () => {
    await using log = await open()
    expect(log.path).toBe(join(folder, ".glovebox", "audit.jsonl"))
    expect(await readFile(join(folder, ".glovebox", ".gitignore"), "utf8")).toBe("*\n")
    expect(notes).toEqual([])
  })

  it("writes beside a log that another writer has, says so, and goes on there the next time", async () => {
    await using first = await open()
    for (const _ of [1, 2]) {
      await using other = await open()
      await other.append({ kind: "custom", data: { name: "a" } })
      expect(other.path).toBe(join(folder, ".glovebox", "audit-2.jsonl"))
    }
    expect(notes[0]).toBe(
      `another process writes ${first.path}, so this one writes ${join(folder, ".glovebox", "audit-2.jsonl")}`,
    )
    const logs = (await readdir(join(folder, ".glovebox"))).filter((name) => /^audit.*\.jsonl$/.test(name))
    expect(logs.toSorted()).toEqual(["audit-2.jsonl", "audit.jsonl"])
    expect(await verifyAuditLog(join(folder, ".glovebox", "audit-2.jsonl"))).toMatchObject({ ok: true })
  })

  it.each<[string, () => Promise<string | undefined>, RegExp]>([
    [
      "a folder that others read",
      async () => {
        await mkdir(join(folder, ".glovebox"))
        await chmod(join(folder, ".glovebox"), 0o755)
        return undefined
      },
      /others may look into it/,
    ],
    [
      "a file where the folder should be",
      async () => {
        await writeFile(join(folder, "x"), "")
        return join(folder, "x", "audit.jsonl")
      },
      /EEXIST/,
    ],
  ])("does not go on with %s, and says what to do", async (_, make, problem) => {
    const path = await make()
    const opening = open(path)
    await expect(opening).rejects.toThrow(problem)
    await expect(opening).rejects.toThrow(/nothing runs unrecorded.*--audit <file>.*--no-audit/s)
  })
})
