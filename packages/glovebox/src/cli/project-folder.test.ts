import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makePrivate, projectFolder } from "./project-folder.ts"

let root = ""

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "glovebox-project-"))
})

afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

describe("projectFolder", () => {
  it("is in the repository's root, else in the folder itself", async () => {
    await mkdir(join(root, "repo", ".git"), { recursive: true })
    await mkdir(join(root, "repo", "a", "b"), { recursive: true })
    expect(await projectFolder(join(root, "repo", "a", "b"))).toBe(join(root, "repo", ".glovebox"))
    expect(await projectFolder(root, root)).toBe(join(root, ".glovebox"))
  })
})

describe("makePrivate", () => {
  it("makes what its user alone reads, and takes it the next time", async () => {
    const project = join(root, ".glovebox")
    for (const _ of [1, 2]) {
      const folder = await makePrivate(project, "chat", "a")
      expect((await stat(folder)).mode & 0o777).toBe(0o700)
    }
    expect(await readFile(join(project, ".gitignore"), "utf8")).toBe("*\n")
  })

  it("takes nothing that a clone brought: a folder that others read, a link, a file", async () => {
    const project = join(root, ".glovebox")
    await mkdir(project)
    await chmod(project, 0o755)
    await expect(makePrivate(project, "chat")).rejects.toThrow(/others may look into it.*chmod 700/)
    await chmod(project, 0o700)
    await mkdir(join(project, "chat"), { mode: 0o700 })
    await mkdir(join(root, "home"), { mode: 0o700 })
    await symlink(join(root, "home"), join(project, "chat", "linked"))
    await expect(makePrivate(project, "chat", "linked")).rejects.toThrow(
      /linked was not made .* it is a link/,
    )
    await writeFile(join(project, "chat", "file"), "")
    await expect(makePrivate(project, "chat", "file")).rejects.toThrow(/EEXIST/)
  })
})
