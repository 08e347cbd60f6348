import { mkdtemp, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openOut } from "./out-folder.ts"

let root = ""

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "glovebox-out-test-"))
})

afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

describe("openOut", () => {
  it("makes the folder and those above it, and takes one that is there", async () => {
    const folder = join(root, "a", "b")
    expect(await openOut(folder)).toBe(folder)
    expect(await openOut(folder)).toBe(folder)
    expect((await stat(folder)).isDirectory()).toBe(true)
  })

  it("refuses what is no folder and cannot be one, instead of trying forever", async () => {
    await writeFile(join(root, "file"), "")
    for (const out of [join(root, "file"), join(root, "file", "inner"), "/proc/none/inner"]) {
      await expect(openOut(out)).rejects.toThrow(/^--out .* cannot be used: E/)
    }
  })
})
