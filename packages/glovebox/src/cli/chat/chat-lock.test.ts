import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { ChatLock } from "./chat-lock.ts"

let folder = ""

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-lock-"))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe("ChatLock", () => {
  it("lets one have a chat at a time, and leaves nothing behind", async () => {
    const file = join(folder, "a.lock")
    {
      await using _lock = await ChatLock.take(file, "a")
      await expect(ChatLock.take(file, "a")).rejects.toThrow(
        `a is open in another glovebox (process ${process.pid}). Begin another: glovebox chat --new`,
      )
    }
    expect(await readdir(folder)).toEqual([])
    await using _again = await ChatLock.take(file, "a")
  })

  it.each(["", "rubbish", "-1", "2147483646"])("takes over what no living process has: %j", async (text) => {
    const file = join(folder, "a.lock")
    await writeFile(file, text)
    await using _lock = await ChatLock.take(file, "a")
    expect(await readdir(folder)).toEqual(["a.lock"])
  })
})
