import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { WorkspaceFiles } from "./workspace-files.ts"

let base = ""
let files: WorkspaceFiles

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "glovebox-files-"))
  await mkdir(join(base, "work"))
  await writeFile(join(base, "secret.txt"), "secret")
  files = new WorkspaceFiles(join(base, "work"), new SandboxPolicy({ limits: { workspace: "1MiB" } }))
})

afterEach(async () => {
  await rm(base, { recursive: true })
})

describe("WorkspaceFiles", () => {
  it("writes, lists and reads files, in folders that it makes", async () => {
    expect(await files.list()).toEqual({ files: [], more: false })
    expect(await files.write("./data//in.csv", Buffer.from("a,b\n"))).toBe("data/in.csv")
    await files.write("a.txt", Buffer.from("1"))
    await files.write("a.txt", Buffer.from("22"))
    expect((await files.list()).files).toEqual([
      { path: "a.txt", size: 2 },
      { path: "data/in.csv", size: 4 },
    ])
    expect(String(await files.read("data/in.csv"))).toBe("a,b\n")
  })

  it.each(["../secret.txt", "/etc/passwd", "data/../../secret.txt", "", "..", "a\0b", "C:\\x"])(
    "refuses %j, to read and to write",
    async (path) => {
      await expectFailure(files.read(path), "CODE_FILE_REFUSED")
      await expectFailure(files.write(path, Buffer.from("x")), "CODE_FILE_REFUSED")
    },
  )

  it("follows no link, neither as a file nor above one", async () => {
    await symlink(join(base, "secret.txt"), join(base, "work", "link"))
    await symlink(base, join(base, "work", "up"))
    expect((await files.list()).files).toEqual([])
    await expectFailure(files.read("link"), "WORKSPACE_FAILED", /There is no file link/)
    await expectFailure(files.read("up/secret.txt"), "WORKSPACE_FAILED")
    await expectFailure(files.write("up/x", Buffer.from("x")), "WORKSPACE_FAILED")
  })

  it("lists nothing of a folder that is not there yet, and what it may not open by name only", async () => {
    const none = new WorkspaceFiles(join(base, "later"), new SandboxPolicy())
    expect(await none.list()).toEqual({ files: [], more: false })
    await writeFile(join(base, "work", "locked"), "abc", { mode: 0o000 })
    expect((await files.list()).files).toEqual([{ path: "locked", size: 3 }])
  })

  it("writes a file in the place of a file alone", async () => {
    await files.write("notes", Buffer.from("kept"))
    await files.write("data/a", Buffer.from("a"))
    await expectFailure(files.write("notes/x", Buffer.from("x")), "WORKSPACE_FAILED", /notes is a file/)
    await mkdir(join(base, "work", "empty"))
    await expectFailure(files.write("empty", Buffer.from("x")), "WORKSPACE_FAILED", /empty is a folder/)
    expect(String(await files.read("notes"))).toBe("kept")
  })

  it("says what is not there, is no file, or would be too much", async () => {
    await expectFailure(files.read("none"), "WORKSPACE_FAILED", /There is no file none/)
    await mkdir(join(base, "work", "folder"))
    await expectFailure(files.read("folder"), "WORKSPACE_FAILED", /folder is no file/)
    await expectFailure(files.write("big", Buffer.alloc(1024 ** 2)), "WORKSPACE_FAILED", /may have 768KiB/)
  })
})
