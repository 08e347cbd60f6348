import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { FolderWorkspace } from "./folder-workspace.ts"
import type { WorkspaceFile } from "./workspace-file.ts"

const limits = { maxFiles: 10, maxBytes: 1000 }
let home = ""
let root = ""
let outside = ""

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "glovebox-folder-"))
  root = join(home, "work")
  outside = join(home, "outside")
  mkdirSync(root)
  mkdirSync(outside)
  writeFileSync(join(outside, "secret"), "secret")
})

afterEach(() => rmSync(home, { recursive: true, force: true }))

function file(path: string, text = path, executable = false): WorkspaceFile {
  return { path, content: Buffer.from(text), executable }
}

async function read(workspace = new FolderWorkspace(root, limits)): Promise<Record<string, string>> {
  const files = await workspace.read()
  const entries = files.map(({ path, content }) => [path, Buffer.from(content).toString()] as const)
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

async function apply(files: readonly WorkspaceFile[], removed: readonly string[] = []): Promise<boolean> {
  return new FolderWorkspace(root, limits).apply({ files, removed })
}

/** What is in the folder that is neither a file nor a folder that a test made. */
function leftovers(): string[] {
  return readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => name.includes(".glovebox-"))
}

describe("FolderWorkspace, reading", () => {
  it("makes its folder when there is none", async () => {
    const workspace = new FolderWorkspace(join(home, "new", "deep"), limits)
    expect(await workspace.read()).toEqual([])
    expect(existsSync(join(home, "new", "deep"))).toBe(true)
  })

  it("gives files of all depths, with their executable bit", async () => {
    mkdirSync(join(root, "a", "b"), { recursive: true })
    writeFileSync(join(root, "a", "b", "run"), "1")
    chmodSync(join(root, "a", "b", "run"), 0o755)
    writeFileSync(join(root, "empty"), "")
    const files = await new FolderWorkspace(root, limits).read()
    expect(Object.fromEntries(files.map(({ path, executable }) => [path, executable]))).toEqual({
      "a/b/run": true,
      empty: false,
    })
  })

  it("carries no link: to a file, to a folder, to nothing, to itself", async () => {
    writeFileSync(join(root, "plain"), "1")
    symlinkSync(join(outside, "secret"), join(root, "to-file"))
    symlinkSync(outside, join(root, "to-folder"))
    symlinkSync(join(home, "nowhere"), join(root, "dangling"))
    symlinkSync(".", join(root, "loop"))
    expect(await read()).toEqual({ plain: "1" })
  })

  it("skips names that no workspace takes", async () => {
    writeFileSync(join(root, "plain"), "1")
    writeFileSync(join(root, "new\nline"), "2")
    writeFileSync(join(root, "back\\slash"), "3")
    writeFileSync(join(root, "C:drive"), "4")
    mkdirSync(join(root, "bad\u202E"))
    writeFileSync(join(root, "bad\u202E", "inside"), "5")
    expect(await read()).toEqual({ plain: "1" })
  })

  it("refuses a folder with too many files, or too many bytes in one or in all", async () => {
    const small = new FolderWorkspace(root, { maxFiles: 2, maxBytes: 10 })
    writeFileSync(join(root, "a"), "12345")
    writeFileSync(join(root, "b"), "12345")
    expect(await read(small)).toEqual({ a: "12345", b: "12345" })
    writeFileSync(join(root, "c"), "")
    await expectFailure(small.read(), "WORKSPACE_FAILED", /2 files/)
    rmSync(join(root, "c"))
    writeFileSync(join(root, "b"), "123456")
    await expectFailure(small.read(), "WORKSPACE_FAILED", /10B.*Mount large data read-only/)
    rmSync(join(root, "a"))
    writeFileSync(join(root, "b"), "12345678901")
    await expectFailure(small.read(), "WORKSPACE_FAILED")
  })
})

describe("FolderWorkspace, writing", () => {
  it("makes parents, replaces what was there, and sets the executable bit", async () => {
    writeFileSync(join(root, "old"), "old")
    expect(await apply([file("a/b/c", "1", true), file("old", "new")])).toBe(true)
    expect(await read()).toEqual({ "a/b/c": "1", old: "new" })
    expect(statSync(join(root, "a/b/c")).mode & 0o111).not.toBe(0)
    expect(statSync(join(root, "old")).mode & 0o111).toBe(0)
    await apply([file("a/b/c", "1", false)])
    expect(statSync(join(root, "a/b/c")).mode & 0o111).toBe(0)
    expect(leftovers()).toEqual([])
  })

  it("takes the place of a planted file link, and leaves what it leads to", async () => {
    symlinkSync(join(outside, "secret"), join(root, "link"))
    await apply([file("link", "mine")])
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("secret")
    expect(lstatSync(join(root, "link")).isFile()).toBe(true)
    expect(readFileSync(join(root, "link"), "utf8")).toBe("mine")
  })

  it("takes the place of a dangling link, and makes nothing where it leads", async () => {
    symlinkSync(join(outside, "planted"), join(root, "link"))
    await apply([file("link", "mine")])
    expect(existsSync(join(outside, "planted"))).toBe(false)
    expect(readFileSync(join(root, "link"), "utf8")).toBe("mine")
  })

  it("refuses to write through a link to a folder, at any depth", async () => {
    mkdirSync(join(root, "deep"))
    symlinkSync(outside, join(root, "link"))
    symlinkSync(outside, join(root, "deep", "link"))
    symlinkSync(join(home, "nowhere"), join(root, "dangling"))
    for (const path of ["link/secret", "link/new", "deep/link/secret", "deep/link/a/b", "dangling/x"]) {
      await expectFailure(apply([file(path, "mine")]), "WORKSPACE_FAILED", /is a link/)
    }
    expect(readdirSync(outside)).toEqual(["secret"])
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("secret")
    expect(existsSync(join(home, "nowhere"))).toBe(false)
  })

  it("puts a folder in the place of a file, and a file in the place of an empty folder", async () => {
    writeFileSync(join(root, "a"), "file")
    mkdirSync(join(root, "b"))
    await apply([file("a/inside"), file("b", "file now")])
    expect(await read()).toEqual({ "a/inside": "a/inside", b: "file now" })
  })

  it("puts a file in the place of a folder whose files are removed in the same change", async () => {
    await apply([file("a/x"), file("a/y/z")])
    await apply([file("a", "file now")], ["a/x", "a/y/z"])
    expect(await read()).toEqual({ a: "file now" })
  })

  it("refuses a file in the place of a folder that holds more, and leaves no temporary file", async () => {
    await apply([file("a/kept")])
    await expectFailure(apply([file("a", "file now")]), "WORKSPACE_FAILED")
    expect(await read()).toEqual({ "a/kept": "a/kept" })
    expect(leftovers()).toEqual([])
  })
})

describe("FolderWorkspace, removing", () => {
  it("removes files, and folders only when that leaves them empty", async () => {
    await apply([file("a/b/c"), file("a/keep"), file("d/e/f")])
    await apply([], ["a/b/c", "d/e/f", "missing", "a/missing/x"])
    expect(await read()).toEqual({ "a/keep": "a/keep" })
    expect(readdirSync(root)).toEqual(["a"])
    expect(readdirSync(join(root, "a"))).toEqual(["keep"])
  })

  it("never removes its own folder", async () => {
    await apply([file("a")])
    await apply([], ["a"])
    expect(readdirSync(root)).toEqual([])
  })

  it("removes neither a link, nor through one, nor a folder", async () => {
    symlinkSync(join(outside, "secret"), join(root, "link"))
    symlinkSync(outside, join(root, "folder"))
    mkdirSync(join(root, "empty"))
    await apply([], ["link", "folder/secret", "folder", "empty"])
    expect(readlinkSync(join(root, "link"))).toBe(join(outside, "secret"))
    expect(readdirSync(outside)).toEqual(["secret"])
    expect(readdirSync(root).toSorted()).toEqual(["empty", "folder", "link"])
  })

  it("leaves the user's files when it is cleared", async () => {
    await apply([file("a")])
    await new FolderWorkspace(root, limits).clear()
    expect(await read()).toEqual({ a: "a" })
  })
})

describe("FolderWorkspace, there and back", () => {
  it("reads what it was given, whatever the names and contents", async () => {
    const part = fc.constantFrom("a", "b", "ü", "with space", ".hidden", "-dash", "c.txt", "日本")
    const path = fc
      .array(part, { minLength: 1, maxLength: 3 })
      .map((parts) => parts.map((name, depth) => `${depth}${name}`).join("/"))
    const one = fc.record({ path, content: fc.uint8Array({ maxLength: 40 }), executable: fc.boolean() })
    const change = fc.record({
      files: fc.uniqueArray(one, { maxLength: 4, selector: ({ path }) => path }),
      removals: fc.array(fc.nat(5), { maxLength: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 3 }), async (changes) => {
        const folder = mkdtempSync(join(home, "property-"))
        const workspace = new FolderWorkspace(folder, { maxFiles: 100, maxBytes: 100_000 })
        const model = new Map<string, WorkspaceFile>()
        for (const { files, removals } of changes) {
          const names = [...model.keys()]
          const removed = removals.flatMap((index) => names[index] ?? [])
          for (const name of removed) model.delete(name)
          // A name is a file or a folder, not both.
          const fitting = files.filter(({ path }) =>
            [...model.keys()].every((name) => !name.startsWith(`${path}/`) && !path.startsWith(`${name}/`)),
          )
          const taken: WorkspaceFile[] = []
          for (const item of fitting) {
            const clashes = taken.some(
              ({ path }) => path.startsWith(`${item.path}/`) || item.path.startsWith(`${path}/`),
            )
            if (!clashes) taken.push(item)
          }
          await workspace.apply({ files: taken, removed })
          for (const item of taken) model.set(item.path, item)
        }
        const found = (await workspace.read()).map(({ path, content, executable }) => ({
          path,
          content: Uint8Array.from(content),
          executable,
        }))
        const byPath = (a: WorkspaceFile, b: WorkspaceFile): number => (a.path < b.path ? -1 : 1)
        expect(found.toSorted(byPath)).toEqual([...model.values()].toSorted(byPath))
      }),
      { numRuns: 15 },
    )
  })
})
