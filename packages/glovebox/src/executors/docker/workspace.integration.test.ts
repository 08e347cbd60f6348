import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { succeed } from "../../testing/expectations.ts"
import { programsIn, python, sh } from "../../testing/programs.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"

const { print, show, write } = programsIn(["python"])
let folder = ""
let outside = ""

beforeEach(async () => {
  const base = await mkdtemp(join(tmpdir(), "gb-workspace-"))
  folder = join(base, "work")
  outside = join(base, "outside")
  await mkdir(folder)
  await mkdir(outside)
})
afterEach(async () => {
  await rm(join(folder, ".."), { recursive: true, force: true })
})

describe.skipIf(HAS_NO_DOCKER)("a folder of the host as the workspace", () => {
  it("goes in, and what changes comes out: files, folders, modes, removals", async () => {
    await mkdir(join(folder, "data"))
    await writeFile(join(folder, "data/in.txt"), "in")
    await writeFile(join(folder, "tool.sh"), "#!/bin/sh\necho tool ran\n")
    await chmod(join(folder, "tool.sh"), 0o755)
    await writeFile(join(folder, "old.txt"), "old")
    await using executor = docker({ workDir: folder })
    const code = sh(
      "./tool.sh; cat data/in.txt; rm old.txt; mkdir -p new/deep; echo out > new/deep/out; cp tool.sh new/tool.sh",
    )
    const result = await succeed(executor, code)
    expect(result.stdout).toBe("tool ran\nin")
    expect(await readFile(join(folder, "new/deep/out"), "utf8")).toBe("out\n")
    expect((await lstat(join(folder, "new/tool.sh"))).mode & 0o777).toBe(0o755)
    expect(await readdir(folder)).toEqual(expect.arrayContaining(["data", "new", "tool.sh"]))
    expect(await readdir(folder)).not.toContain("old.txt")
    expect(result.artifacts.map(({ path }) => path)).toEqual(["new/deep/out", "new/tool.sh"])
    expect((await lstat(join(folder, "new/deep/out"))).uid).toBe(process.getuid?.())
  })

  it("gets the files that code names, so that they can be looked at and used again", async () => {
    await using executor = docker({ workDir: folder })
    await succeed(executor, print("x"), python("# filename: src/named.py\nprint(1)"))
    expect(await readFile(join(folder, "src/named.py"), "utf8")).toContain("print(1)")
  })

  it("keeps files of code that have a name when those without are removed after the call", async () => {
    await using executor = docker({ workDir: folder, deleteTmpFiles: true })
    await succeed(executor, print("x"), python("# filename: named.py\nprint(1)"))
    expect(await readdir(folder)).toEqual(["named.py"])
  })

  it("is made when it is not there", async () => {
    const made = join(folder, "not/yet")
    await using executor = docker({ workDir: made })
    await succeed(executor, write("a", "x"))
    expect(await readFile(join(made, "a"), "utf8")).toBe("x")
  })

  it("has its links neither followed on the way in nor on the way out", async () => {
    await writeFile(join(outside, "secret"), "secret of the host")
    await symlink(join(outside, "secret"), join(folder, "link"))
    await symlink(outside, join(folder, "linked"))
    await symlink(join(outside, "made"), join(folder, "dangling"))
    await using executor = docker({ workDir: folder })
    const { stdout } = await succeed(executor, sh("ls -A | grep -v tmp_code; true"))
    expect(stdout).toBe("")
    await succeed(executor, write("link", "overwritten"), write("dangling", "made"))
    expect(await readFile(join(outside, "secret"), "utf8")).toBe("secret of the host")
    expect(await readdir(outside)).toEqual(["secret"])
    const made = executor.executeCodeBlocks([sh("mkdir linked; echo planted > linked/planted")])
    await expectFailure(made, "WORKSPACE_FAILED", /link/)
    expect(await readdir(outside)).toEqual(["secret"])
  })

  it("does not have its files removed through links", async () => {
    await mkdir(join(folder, "sub"))
    await writeFile(join(folder, "sub/victim"), "x")
    await writeFile(join(outside, "victim"), "of the host")
    await using executor = docker({ workDir: folder })
    const events = executor.stream([sh("rm sub/victim")])
    for await (const event of events) {
      if (event.type !== "block-finished") continue
      // While the run is under way the user swaps the folder for a link.
      await rename(join(folder, "sub"), join(outside, "moved"))
      await symlink(outside, join(folder, "sub"))
    }
    expect(await readFile(join(outside, "victim"), "utf8")).toBe("of the host")
  })

  it("that is too large to carry is refused before anything runs, and serves again when it is not", async () => {
    await writeFile(join(folder, "large"), Buffer.alloc(3_000_000))
    await using executor = docker({ workDir: folder, carry: { maxBytes: "2MiB", maxFiles: 50 } })
    await expectFailure(
      executor.executeCodeBlocks([write("ran", "x")]),
      "WORKSPACE_FAILED",
      /too much to carry|holds more/,
    )
    expect(await readdir(folder)).toEqual(["large"])
    await rm(join(folder, "large"))
    for (let number = 0; number < 51; number += 1) await writeFile(join(folder, `f${number}`), "")
    await expectFailure(executor.executeCodeBlocks([print("x")]), "WORKSPACE_FAILED")
    await rm(join(folder, "f0"))
    await rm(join(folder, "f1"))
    await succeed(executor, print("x"))
  })

  it("that does not fit into the sandbox's workspace is refused with what bounds it", async () => {
    await writeFile(join(folder, "large"), Buffer.alloc(3_000_000, 1))
    await using executor = docker({ workDir: folder, policy: { limits: { workspace: "2MiB" } } })
    await expectFailure(executor.executeCodeBlocks([print("ran")]), "WORKSPACE_FAILED", /limits\.workspace/)
  })

  it("is left alone by restart", async () => {
    await writeFile(join(folder, "mine"), "x")
    await using executor = docker({ workDir: folder })
    await executor.restart()
    expect((await succeed(executor, show("mine"))).stdout).toBe("x")
  })
})

describe.skipIf(HAS_NO_DOCKER)("folders that are mounted", () => {
  it("a bound folder is the workspace itself", async () => {
    await chmod(folder, 0o777)
    await writeFile(join(folder, "in"), "bound")
    await using executor = docker({ bindDir: folder })
    const { stdout, artifacts } = await succeed(executor, show("in"), write("out", "x"))
    expect([stdout, artifacts]).toEqual(["bound", []])
    expect(await readFile(join(folder, "out"), "utf8")).toBe("x")
  })

  it("further folders are read-only unless asked otherwise", async () => {
    await writeFile(join(outside, "data"), "data")
    await chmod(outside, 0o777)
    await chmod(folder, 0o777)
    await using executor = docker({
      extraVolumes: { [outside]: { bind: "/data" }, [folder]: { bind: "/out", mode: "rw" } },
    })
    const { stdout } = await succeed(
      executor,
      sh("cat /data/data; echo x > /data/new 2>/dev/null || echo refused; echo y > /out/new"),
    )
    expect(stdout).toBe("datarefused\n")
    expect(await readdir(outside)).toEqual(["data"])
    expect(await readFile(join(folder, "new"), "utf8")).toBe("y\n")
  })

  it("a folder that is not there is an error, and is not made", async () => {
    const missing = join(outside, "missing")
    await using executor = docker({ extraVolumes: { [missing]: { bind: "/data" } } })
    await expect(executor.executeCodeBlocks([print("x")])).rejects.toMatchObject({
      code: expect.stringMatching(/^(POLICY_MOUNT_REFUSED|ENGINE_FAILED)$/) as string,
    })
    expect(await readdir(outside)).toEqual([])
  })
})
