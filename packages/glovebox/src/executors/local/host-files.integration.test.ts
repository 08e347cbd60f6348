import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { chmod, lstat, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { buildCommand } from "../../cli/glovebox.test-kit.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import type { CodeBlock } from "../index.ts"
import { local } from "./local-subject.test-kit.ts"

const sh = (code: string): CodeBlock => ({ language: "sh", code })

let folder = ""
let workDir = ""

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-files-"))
  workDir = join(folder, "work", "dir")
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe("files of the local executor", () => {
  it("are in workDir, which is made; code files without a name go, and those with one stay", async () => {
    await using executor = local({ workDir })
    const { artifacts } = await executor.executeCodeBlocks([
      sh("echo made > made.txt"),
      sh("# filename: tools/named.sh\necho named"),
      { ...sh("echo given"), file: "given/by-caller.sh" },
    ])
    expect(artifacts.map(({ path }) => path)).toEqual(["made.txt"])
    expect((await readdir(workDir, { recursive: true })).toSorted()).toEqual([
      "made.txt",
      "tools",
      "tools/named.sh",
    ])
    await executor.stop()
    expect(await readFile(join(workDir, "made.txt"), "utf8")).toBe("made\n")
  })

  it("of code all stay where that is asked for", async () => {
    await using executor = local({ workDir, cleanupTempFiles: false })
    const { codeFile } = await executor.executeCodeBlocks([sh("echo kept")])
    expect(await readdir(workDir)).toEqual([codeFile])
  })

  it("of code go after a failure, a timeout and a cancelled call too", async () => {
    await using executor = local({ workDir, timeout: "500ms" })
    await executor.executeCodeBlocks([sh("exit 3")])
    await executor.executeCodeBlocks([sh("sleep 60")])
    const controller = new AbortController()
    const call = executor.executeCodeBlocks([sh("echo on; sleep 60")], {
      signal: controller.signal,
      onOutput: () => controller.abort(new Error("stop")),
    })
    await expect(call).rejects.toThrow("stop")
    expect(await readdir(workDir)).toEqual([])
  })

  it("of the user that a caller's name meets are as before, after the call", async () => {
    await mkdir(workDir, { recursive: true })
    await writeFile(join(workDir, "job.sh"), "the user's own")
    await chmod(join(workDir, "job.sh"), 0o755)
    await using executor = local({ workDir })
    const { stdout } = await executor.executeCodeBlocks([{ ...sh("cat job.sh"), file: "job.sh" }])
    expect(stdout).toBe("cat job.sh")
    expect(await readFile(join(workDir, "job.sh"), "utf8")).toBe("the user's own")
    expect((await lstat(join(workDir, "job.sh"))).mode & 0o777).toBe(0o755)
  })

  it("are never written through a link that stands where the code is to go", async () => {
    await mkdir(workDir, { recursive: true })
    const outside = join(folder, "outside.txt")
    await writeFile(outside, "untouched")
    const code = "echo second"
    const name = `tmp_code_${createHash("sha256").update(code).digest("hex")}.sh`
    await using executor = local({ workDir })
    const { stdout, exitCode } = await executor.executeCodeBlocks([
      sh(`ln -s ${outside} ${name} && ln -s ${outside} named.sh && echo planted`),
      sh(code),
      sh(`# filename: named.sh\necho third`),
    ])
    expect([stdout, exitCode]).toEqual(["planted\nsecond\nthird\n", 0])
    expect(await readFile(outside, "utf8")).toBe("untouched")
  })

  it("are refused below a link that leads out", async () => {
    await mkdir(workDir, { recursive: true })
    await symlink(folder, join(workDir, "out"))
    await using executor = local({ workDir })
    const call = executor.executeCodeBlocks([sh("# filename: out/escaped.sh\necho x")])
    await expectFailure(call, "WORKSPACE_FAILED", /is a link/)
    expect(await readdir(folder)).toEqual(["work"])
    expect((await executor.executeCodeBlocks([sh("echo fine")])).stdout).toBe("fine\n")
  })

  it("that are links, pipes or open to nobody are no artifacts, and do not hold the call", async () => {
    await using executor = local({ workDir })
    const { artifacts } = await executor.executeCodeBlocks([
      sh("ln -s /etc/passwd link; mkfifo pipe; ln -s / root; echo plain > plain"),
    ])
    expect(artifacts.map(({ path }) => path)).toEqual(["plain"])
  })

  it("of a working folder that the code removed come back with the next call", async () => {
    await using executor = local({ workDir })
    await executor.executeCodeBlocks([sh(`rm -rf ${workDir}`)])
    const { stdout, artifacts } = await executor.executeCodeBlocks([sh("echo again | tee again.txt")])
    expect([stdout, artifacts.map(({ path }) => path)]).toEqual(["again\n", ["again.txt"]])
  })

  it("in folders that code closed to itself go at the end too", async () => {
    await buildCommand()
    const program = join(folder, "program.mjs")
    const entry = fileURLToPath(new URL("../../../dist/executors/local/index.js", import.meta.url))
    await writeFile(
      program,
      `import { LocalCommandLineCodeExecutor } from ${JSON.stringify(entry)}
const executor = new LocalCommandLineCodeExecutor({ dangerouslyRunOnHost: true })
const code = "mkdir -p closed/inner; touch closed/inner/file; chmod 000 closed/inner closed; pwd"
process.stdout.write((await executor.executeCodeBlocks([{ language: "sh", code }])).stdout)
await executor.stop()`,
    )
    await chmod(folder, 0o777)
    // Root may enter what is closed to everyone.
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--no-warnings", program], {
      ...user,
      env: { PATH: "/usr/bin:/bin", TMPDIR: folder },
      encoding: "utf8",
    })
    expect([status, stderr]).toEqual([0, ""])
    expect(stdout).toContain(folder)
    expect(await readdir(folder)).toEqual(["program.mjs"])
  })

  it("cannot be in a place that is no folder", async () => {
    await writeFile(join(folder, "file"), "")
    await using executor = local({ workDir: join(folder, "file") })
    await expectFailure(executor.start(), "WORKSPACE_FAILED", /file cannot be used as workDir/)
  })
})
