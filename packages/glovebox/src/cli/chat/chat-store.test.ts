import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { ChatStore } from "./chat-store.ts"

let folder = ""

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-store-"))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

const CHAT = {
  model: "openai/x",
  kind: "tools",
  turns: [{ task: "a", answer: "b" }],
  state: { n: 1 },
} as const

describe("ChatStore", () => {
  it("gives back what it keeps, and leaves nothing else behind", async () => {
    const store = new ChatStore(folder)
    expect(await store.load("one")).toBeUndefined()
    await store.save("one", CHAT)
    await store.save("one", { ...CHAT, state: { n: 2 } })
    expect(await store.load("one")).toMatchObject({ ...CHAT, state: { n: 2 } })
    expect(await readdir(folder)).toEqual(["one.json"])
  })

  it("lists the last one first, and passes over what it cannot read", async () => {
    const store = new ChatStore(folder)
    for (const [name, day] of [
      ["two", "01"],
      ["one", "03"],
      ["three", "02"],
    ] as const) {
      const saved = { version: 1, savedAt: `2026-01-${day}T00:00:00.000Z`, ...CHAT }
      await writeFile(join(folder, `${name}.json`), JSON.stringify(saved))
    }
    await writeFile(join(folder, "broken.json"), "{")
    expect((await store.list()).map(({ name }) => name)).toEqual(["one", "three", "two"])
    expect(await new ChatStore(join(folder, "absent")).list()).toEqual([])
  })

  it("finds a name that nobody has", async () => {
    const store = new ChatStore(folder)
    expect(await store.freeName()).toBe("chat-1")
    await store.save("chat-1", CHAT)
    expect(await store.freeName()).toBe("chat-2")
    await writeFile(store.lockOf("chat-2"), "1\n")
    expect(await store.freeName()).toBe("chat-3")
  })

  it("says what to do with a file that it cannot read, and does not go on without it", async () => {
    await writeFile(join(folder, "old.json"), JSON.stringify({ version: 0 }))
    await expectFailure(new ChatStore(folder).load("old"), "STATE_INVALID", /old\.json .*--new/)
    await symlink("/etc/passwd", join(folder, "linked.json"))
    await expectFailure(
      new ChatStore(folder).load("linked"),
      "STATE_INVALID",
      /it is no file\. Begin another/,
    )
  })

  it.each(["../x", "a/b", "", ".x", "a.json", "x".repeat(65)])("refuses the name %j", async (name) => {
    await expect(new ChatStore(folder).save(name, CHAT)).rejects.toThrow(/no name for a session/)
  })
})
