import { describe, expect, it } from "vitest"
import { MemoryWorkspace } from "./memory-workspace.ts"
import type { WorkspaceFile } from "./workspace-file.ts"

function file(path: string, text = path, executable = false): WorkspaceFile {
  return { path, content: Buffer.from(text), executable }
}

async function textsOf(workspace: MemoryWorkspace): Promise<Record<string, string>> {
  const files = await workspace.read()
  return Object.fromEntries(files.map(({ path, content }) => [path, Buffer.from(content).toString()]))
}

const limits = { maxFiles: 3, maxBytes: 10 }

describe("MemoryWorkspace", () => {
  it("is empty at first, and keeps what runs change", async () => {
    const workspace = new MemoryWorkspace(limits)
    expect(await workspace.read()).toEqual([])
    expect(await workspace.apply({ files: [file("a", "1"), file("b/c", "2", true)], removed: [] })).toBe(true)
    expect(await workspace.apply({ files: [file("a", "3")], removed: ["b/c", "never-there"] })).toBe(true)
    expect(await textsOf(workspace)).toEqual({ a: "3" })
  })

  it("keeps the executable bit", async () => {
    const workspace = new MemoryWorkspace(limits)
    await workspace.apply({ files: [file("run", "1", true), file("read", "1")], removed: [] })
    const files = await workspace.read()
    expect(files.map(({ path, executable }) => [path, executable])).toEqual([
      ["run", true],
      ["read", false],
    ])
  })

  it("takes nothing of a change that would make it too large, removals included", async () => {
    const workspace = new MemoryWorkspace(limits)
    await workspace.apply({ files: [file("a", "12345")], removed: [] })
    expect(await workspace.apply({ files: [file("b", "123456")], removed: [] })).toBe(false)
    expect(
      await workspace.apply({ files: [file("b"), file("c"), file("d"), file("e")], removed: ["a"] }),
    ).toBe(false)
    expect(await textsOf(workspace)).toEqual({ a: "12345" })
  })

  it("takes exactly as much as it may, and counts a replaced or removed file no longer", async () => {
    const workspace = new MemoryWorkspace(limits)
    const full = { files: [file("a", "12345"), file("b", "1234"), file("c", "1")], removed: [] }
    expect(await workspace.apply(full)).toBe(true)
    expect(await workspace.apply({ files: [file("a", "54321")], removed: [] })).toBe(true)
    expect(await workspace.apply({ files: [file("d", "12345")], removed: ["a"] })).toBe(true)
    expect(await textsOf(workspace)).toEqual({ b: "1234", c: "1", d: "12345" })
  })

  it("is empty again once it is cleared", async () => {
    const workspace = new MemoryWorkspace(limits)
    await workspace.apply({ files: [file("a")], removed: [] })
    await workspace.clear()
    expect(await workspace.read()).toEqual([])
  })

  it("gives a list that later changes do not alter", async () => {
    const workspace = new MemoryWorkspace(limits)
    await workspace.apply({ files: [file("a")], removed: [] })
    const before = await workspace.read()
    await workspace.apply({ files: [file("b")], removed: ["a"] })
    expect(before.map(({ path }) => path)).toEqual(["a"])
  })
})
