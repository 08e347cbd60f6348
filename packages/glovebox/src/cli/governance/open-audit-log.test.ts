import { generateKeyPairSync } from "node:crypto"
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type AuditLog, verifyAuditLog } from "../../governance/index.ts"
import { openAuditLog } from "./open-audit-log.ts"
import { readSigningKey } from "./read-signing-key.ts"

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

  it("signs with the key of a file", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519")
    const file = join(folder, "key.pem")
    await writeFile(file, privateKey.export({ type: "pkcs8", format: "pem" }))
    const signingKey = await readSigningKey(file)
    const path = join(folder, "signed.jsonl")
    const { signal } = new AbortController()
    const log = await openAuditLog({ path, folder, note: () => {}, signal, signingKey })
    await log.append({ kind: "custom", data: { name: "a" } })
    await log.close()
    expect(await verifyAuditLog(path, { publicKey })).toMatchObject({ ok: true, signedThrough: 4 })
    await expect(readSigningKey(join(folder, "none.pem"))).rejects.toThrow(/none\.pem cannot be read/)
    await writeFile(file, publicKey.export({ type: "spki", format: "pem" }))
    await expect(readSigningKey(file)).rejects.toThrow(/no private Ed25519 key .* openssl genpkey/)
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
    ["a folder in place of the file", async () => folder, /is a folder, and a log is a file/],
    ["a folder that nobody can make", async () => "/proc/none/audit.jsonl", /ENOENT|EACCES|EPERM|EROFS/],
  ])("does not go on with %s, and says what to do", async (_, make, problem) => {
    const path = await make()
    const opening = open(path)
    await expect(opening).rejects.toThrow(problem)
    await expect(opening).rejects.toThrow(/nothing runs unrecorded.*--audit <file>.*--no-audit/s)
  })
})
