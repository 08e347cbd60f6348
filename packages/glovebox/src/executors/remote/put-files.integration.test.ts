import { mkdtemp, readFile, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import type { CodeExecutor } from "../code-executor.ts"
import { HAS_NO_DOCKER, docker } from "../docker/docker-subject.test-kit.ts"
import { WasmCodeExecutor } from "../wasm/index.ts"
import type { RemoteCodeExecutor } from "./remote-code-executor.ts"
import { served } from "./remote.test-kit.ts"

async function remote(executor: () => CodeExecutor): Promise<RemoteCodeExecutor> {
  const ends = await served(executor)
  onTestFinished(() => ends[Symbol.asyncDispose]())
  return ends.client()
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "glovebox-put-"))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

const file = (
  path: string,
  text: string,
  executable = false,
): Parameters<RemoteCodeExecutor["putFiles"]>[0][0] => ({
  path,
  content: Buffer.from(text),
  executable,
})
const python = (code: string): { language: string; code: string } => ({ language: "python", code })

describe("files that a client puts", () => {
  it("are there for code, and what code makes of them comes back", async () => {
    const executor = await remote(() => new WasmCodeExecutor({ pool: false }))
    await executor.putFiles([file("in/a.txt", "first"), file("b.txt", "x")])
    await executor.putFiles([file("in/a.txt", "grüße")])
    const code = "text = open('in/a.txt').read()\nprint(text)\nopen('b.txt', 'w').write(text.upper())"
    const { stdout, artifacts } = await executor.executeCodeBlocks([python(code)])
    expect(stdout).toBe("grüße\n")
    expect(artifacts.map(({ path, content }) => [path, Buffer.from(content).toString()])).toEqual([
      ["b.txt", "GRÜSSE"],
    ])
    await executor.restart()
    const { exitCode } = await executor.executeCodeBlocks([python("open('in/a.txt')")])
    expect(exitCode).toBe(1)
  })

  it("are refused when they are more than the workspace holds, and none is put", async () => {
    const executor = await remote(() => new WasmCodeExecutor({ pool: false, carry: { maxFiles: 2 } }))
    const files = ["a", "b", "c"].map((path) => file(path, ""))
    await expectFailure(executor.putFiles(files), "WORKSPACE_FAILED", /more than it holds/)
    const { stdout } = await executor.executeCodeBlocks([python("import os\nprint('a' in os.listdir())")])
    expect(stdout).toBe("False\n")
  })

  it("are refused by a session, whose files are in its sandbox only", async () => {
    const executor = await remote(() => new WasmCodeExecutor({ pool: false, isolation: "session" }))
    await expectFailure(executor.putFiles([file("a", "")]), "WORKSPACE_FAILED", /keeps none/)
  })

  it("do not go through a link in the operator's folder, nor does the client hear of that folder", async () => {
    const [workDir, outside] = [await folder(), await folder()]
    await symlink(outside, join(workDir, "link"))
    const executor = await remote(() => new WasmCodeExecutor({ pool: false, workDir }))
    const failure = await expectFailure(executor.putFiles([file("link/x", "x")]), "WORKSPACE_FAILED")
    expect(failure.message).not.toContain(workDir)
    await expect(readFile(join(outside, "x"))).rejects.toMatchObject({ code: "ENOENT" })
    await executor.putFiles([file("fine/x", "x")])
    expect(await readFile(join(workDir, "fine/x"), "utf8")).toBe("x")
  })

  it.skipIf(HAS_NO_DOCKER)("can be programs, in a container", async () => {
    const executor = await remote(() => docker({ pool: false }))
    await executor.putFiles([file("bin/hello", "#!/bin/sh\necho hello $1\n", true)])
    const { stdout } = await executor.executeCodeBlocks([{ language: "sh", code: "bin/hello you" }])
    expect(stdout).toBe("hello you\n")
  })
})
