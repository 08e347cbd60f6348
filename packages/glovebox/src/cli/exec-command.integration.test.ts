import { once } from "node:events"
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { constants, tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import type { CodeResult } from "../executors/index.ts"
import {
  IMAGE,
  type Ended,
  buildCommand,
  containersOf,
  ended,
  glovebox,
  startGlovebox,
  useOwnFolder,
} from "./glovebox.test-kit.ts"

let folder = ""
let leave = async (): Promise<void> => {}

beforeAll(async () => {
  await buildCommand()
  leave = await useOwnFolder()
  folder = await mkdtemp(join(tmpdir(), "glovebox-exec-"))
})

afterAll(async () => {
  await leave()
  await rm(folder, { recursive: true, force: true })
})

async function write(name: string, ...lines: readonly string[]): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, lines.join("\n"))
  return path
}

const exec = async (...args: string[]): Promise<Ended> => glovebox(["exec", "--image", IMAGE, ...args])

const SLEEP = ["import time", "print('ready', flush=True)", "time.sleep(300)"]

describe("glovebox exec", () => {
  it("runs a script, keeps its streams apart, and exits as it does", async () => {
    const path = await write(
      "a.py",
      "import sys",
      "print('out')",
      "print('err', file=sys.stderr)",
      "sys.exit(3)",
    )
    expect(await exec(path)).toEqual({ code: 3, stdout: "out\n", stderr: "err\n" })
  })

  it("says no more than the code does when all is well", async () => {
    expect(await exec(await write("a.bash", "echo ${BASH_VERSION:+bash}"))).toEqual({
      code: 0,
      stdout: "bash\n",
      stderr: "",
    })
  })

  it("runs what comes on stdin", async () => {
    const args = ["exec", "--image", IMAGE]
    expect(await glovebox([...args, "--lang", "python"], "print(6 * 7)")).toMatchObject({ stdout: "42\n" })
    expect(await glovebox([...args, "-"], "#!/bin/sh\necho $((6 * 7))")).toMatchObject({ stdout: "42\n" })
    expect(await glovebox([...args, "-"], "print(6 * 7)")).toMatchObject({ code: 2, stdout: "" })
  })

  it("ends code at its time with 124, and has shown what it said until then", async () => {
    const { code, stdout, stderr } = await exec(await write("slow.py", ...SLEEP), "--timeout", "1s")
    expect([code, stdout]).toEqual([124, "ready\n"])
    expect(stderr).toBe(
      "glovebox: the code ran longer than 1s (limits.wall) and was ended; --timeout gives it more\n",
    )
  })

  it("reports a signal as a shell does", async () => {
    const { code, stderr } = await exec(await write("kill.sh", "kill -SEGV $$"))
    expect([code, stderr]).toEqual([139, "glovebox: the code was ended by SIGSEGV\n"])
  })

  it("holds the code to the policy of the file, and names the limit", async () => {
    // Under gVisor the engine does not always say why a sandbox ended.
    const policy = await write(
      "p.yaml",
      "runtime: runc",
      "limits: { memory: 64MiB }",
      "env: { GREETING: hello }",
    )
    const path = await write("big.py", "import os", "print(os.environ['GREETING'])", "bytearray(256 << 20)")
    const { code, stderr } = await exec(path, "--policy", policy)
    expect(code).toBe(137)
    expect(stderr).toContain("ran out of memory: it has 64MiB (limits.memory)")
  })

  it("runs the blocks of a markdown file in one sandbox, up to the first that fails", async () => {
    const path = await write(
      "report.md",
      "```python\nopen('n', 'w').write('42')\n```",
      "```\nno language\n```",
      "```sh\ncat n; exit 3\n```",
      "```sh\necho never\n```",
    )
    expect(await exec(path)).toEqual({
      code: 3,
      stdout: "42",
      stderr: [
        `glovebox: skipped block 2 of ${path}: it names no language`,
        "glovebox: block 2 of 3 (sh) ended with 3; the one after it did not run",
        "",
      ].join("\n"),
    })
  })

  it("prints one JSON object instead of the output, with artifacts by their digest", async () => {
    const path = await write(
      "j.py",
      "import sys",
      "print('hi')",
      "open('a.txt', 'w').write('abc')",
      "sys.exit(4)",
    )
    const { code, stdout, stderr } = await exec(path, "--json")
    expect([code, stderr]).toEqual([4, ""])
    expect(stdout.trim().split("\n")).toHaveLength(1)
    const result = JSON.parse(stdout) as CodeResult
    expect(result).toMatchObject({
      exitCode: 4,
      stdout: "hi\n",
      termination: "exit",
      sandbox: { kind: "docker" },
    })
    expect(result.blocks).toHaveLength(1)
    expect(result.artifacts).toEqual([
      {
        path: "a.txt",
        size: 3,
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      },
    ])
  })

  it("takes the files of the work folder in, and brings changed ones out, but not its own", async () => {
    const workDir = join(folder, "work")
    await mkdir(workDir)
    await writeFile(join(workDir, "in.txt"), "abc")
    const path = await write("w.sh", "tr a-z A-Z < in.txt > out.txt")
    expect(await exec(path, "--work-dir", workDir)).toEqual({ code: 0, stdout: "", stderr: "" })
    expect((await readdir(workDir)).toSorted()).toEqual(["in.txt", "out.txt"])
    expect(await readFile(join(workDir, "out.txt"), "utf8")).toBe("ABC")
  })

  it("streams all of a large output to a reader that begins late", async () => {
    const child = startGlovebox("exec", "--image", IMAGE, await write("large.py", "print('x' * 8_000_000)"))
    await once(child.stdout, "readable")
    const { code, stdout } = await ended(child)
    expect([code, stdout.length]).toEqual([0, 8_000_001])
  })

  it("says in one line that the image has no program for the language", async () => {
    const { code, stdout, stderr } = await exec(await write("a.ps1", "Write-Output 1"))
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr).toMatch(/^glovebox: The image \S+ has no pwsh, .*\n$/)
  })
})

describe("glovebox exec, ended by others", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("leaves no container after %s while the code runs", async (signal, code) => {
    const child = startGlovebox("exec", "--image", IMAGE, await write("slow.py", ...SLEEP))
    const end = ended(child)
    await once(child.stdout, "data")
    expect(await containersOf(child.pid)).toHaveLength(1)
    child.kill(signal)
    expect(await end).toEqual({ code, stdout: "ready\n", stderr: "" })
    expect(await containersOf(child.pid)).toEqual([])
  })

  it("leaves no container after SIGINT while the sandbox starts", async () => {
    const child = startGlovebox("exec", "--image", IMAGE, await write("slow.py", ...SLEEP))
    const end = ended(child)
    await vi.waitFor(async () => expect(await containersOf(child.pid)).toHaveLength(1), {
      timeout: 20_000,
      interval: 1,
    })
    child.kill("SIGINT")
    expect(await end).toMatchObject({ code: 130, stderr: "" })
    expect(await containersOf(child.pid)).toEqual([])
  })

  it("ends at SIGINT while it waits for stdin", async () => {
    const child = startGlovebox("exec", "--image", IMAGE, "--lang", "markdown")
    const end = ended(child)
    child.stdin.write("x")
    // Before it listens a signal would end it by default; Node itself listens to all of them but this one.
    await vi.waitFor(async () => expect(await catches(child.pid, constants.signals.SIGHUP)).toBe(true), {
      timeout: 20_000,
    })
    child.kill("SIGINT")
    expect(await end).toEqual({ code: 130, stdout: "", stderr: "" })
  })

  it("ends the code when nobody reads its output any more", async () => {
    const path = await write("forever.py", "while True: print('y')")
    const child = startGlovebox("exec", "--image", IMAGE, path)
    const closed = once(child, "close")
    let stderr = ""
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
    await once(child.stdout, "data")
    child.stdout.destroy()
    expect(await closed).toEqual([141, null])
    expect(stderr).toBe("")
    expect(await containersOf(child.pid)).toEqual([])
  })
})

// The kernel's mask of the signals that a process has handlers for.
async function catches(pid: number | undefined, signal: number): Promise<boolean> {
  const [, mask = "0"] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? []
  return (BigInt(`0x${mask}`) & (1n << BigInt(signal - 1))) !== 0n
}
