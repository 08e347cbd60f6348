import { spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import type { CodeBlock, ExecutionEvent } from "../index.ts"
import { createVirtualEnvironment } from "./create-virtual-environment.ts"
import { eventually, processesWith } from "./host-processes.test-kit.ts"
import { local } from "./local-subject.test-kit.ts"

const sh = (code: string): CodeBlock => ({ language: "sh", code })
const python = (code: string): CodeBlock => ({ language: "python", code })
// A time to sleep that no other process sleeps, by which it is found.
const seconds = (): string => `9${randomInt(1_000_000, 9_999_999)}`

describe("processes of the local executor", () => {
  it("end at the deadline with their children, deaf to signals or not, and the output so far is kept", async () => {
    await using executor = local({ timeout: "1500ms" })
    const [child, grandchild] = [seconds(), seconds()]
    const code = `trap '' TERM INT HUP
sleep ${child} &
started=$!
sh -c 'trap "" TERM; sleep ${grandchild} & wait' &
until grep -q ${child} "/proc/$started/cmdline"; do :; done
echo so far
echo to both > /dev/stderr
while :; do sleep 1; done`
    const seen: number[] = []
    const result = await executor.executeCodeBlocks([sh(code)], {
      onOutput: () => seen.push(processesWith(`sleep ${child}`).length),
    })
    expect(result).toMatchObject({
      exitCode: 124,
      termination: "timeout",
      stdout: "so far\n",
      stderr: "to both\n",
    })
    // That the child was there shows that it can be seen.
    expect(Math.max(...seen)).toBe(1)
    expect([...processesWith(`sleep ${child}`), ...processesWith(`sleep ${grandchild}`)]).toEqual([])
  })

  it("that stay in the background end with the block, and do not delay it though they hold its pipes", async () => {
    await using executor = local({ timeout: "60s" })
    const time = seconds()
    const { stdout, termination } = await executor.executeCodeBlocks([sh(`sleep ${time} &\necho done`)])
    expect([stdout, termination]).toEqual(["done\n", "exit"])
    expect(processesWith(`sleep ${time}`)).toEqual([])
  })

  it("that left the group and hold the pipes do not delay the return either", async () => {
    await using executor = local({ timeout: "60s" })
    const time = seconds()
    try {
      const code = `import subprocess
subprocess.Popen(["sleep", "${time}"], start_new_session=True)
print("done")`
      const { stdout, termination } = await executor.executeCodeBlocks([python(code)])
      expect([stdout, termination]).toEqual(["done\n", "exit"])
    } finally {
      // This is what no group holds, and what the documentation says of it.
      for (const pid of processesWith(`sleep ${time}`)) process.kill(pid, "SIGKILL")
    }
  })

  it("end when the call is cancelled while they run", async () => {
    await using executor = local()
    const time = seconds()
    const controller = new AbortController()
    const reason = new Error("no longer wanted")
    const call = executor.executeCodeBlocks([sh(`trap '' TERM\nsleep ${time} &\necho on\nwait`)], {
      signal: controller.signal,
      onOutput: () => controller.abort(reason),
    })
    await expect(call).rejects.toBe(reason)
    expect(processesWith(`sleep ${time}`)).toEqual([])
  })

  it("never begin when the call is cancelled before", async () => {
    await using executor = local()
    await executor.start()
    const controller = new AbortController()
    const events: ExecutionEvent[] = []
    const loop = async (): Promise<void> => {
      for await (const event of executor.stream([sh("touch began")], { signal: controller.signal })) {
        events.push(event)
        // The file of the code is being written.
        if (event.type === "block-started") controller.abort(new Error("stop"))
      }
    }
    await expect(loop()).rejects.toThrow("stop")
    const { stdout } = await executor.executeCodeBlocks([sh("ls")])
    expect(stdout).not.toContain("began")
    expect(stdout.trim().split("\n")).toHaveLength(1)
  })

  it("end with this process, however it dies, and its folder goes", async () => {
    const time = seconds()
    const folder = await mkdtemp(join(tmpdir(), "glovebox-dies-"))
    try {
      const source = fileURLToPath(new URL("index.ts", import.meta.url))
      const program = join(folder, "program.mts")
      await writeFile(
        program,
        `import { LocalCommandLineCodeExecutor } from ${JSON.stringify(source)}
const executor = new LocalCommandLineCodeExecutor({ dangerouslyRunOnHost: true })
await executor.executeCodeBlocks([{ language: "sh", code: "echo on; sleep ${time}" }], {
  onOutput: ({ text }) => process.stdout.write(text),
})`,
      )
      const child = spawn("npx", ["--no-install", "tsx", program], {
        env: { ...process.env, TMPDIR: folder },
        stdio: ["ignore", "pipe", "ignore"],
      })
      await once(child.stdout, "data")
      await eventually("the code runs", () => processesWith(`sleep ${time}`).length === 1)
      for (const pid of processesWith(program)) process.kill(pid, "SIGKILL")
      await eventually("nothing of it runs", () => processesWith(`sleep ${time}`).length === 0)
      const ours = (await readdir(folder)).filter((name) => name.startsWith("glovebox-local-"))
      await eventually("its folder is gone", () => ours.every((name) => !existsSync(join(folder, name))))
      // The guard itself ends last.
      await expect.poll(() => processesWith(folder), { timeout: 10_000 }).toEqual([])
    } finally {
      for (const pid of processesWith(`sleep ${time}`)) process.kill(pid, "SIGKILL")
      await rm(folder, { recursive: true, force: true })
    }
  })

  it("leave nothing when the executor stops: no folder, no process", async () => {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-stop-"))
    const before = process.env["TMPDIR"]
    process.env["TMPDIR"] = folder
    try {
      const executor = local()
      await executor.executeCodeBlocks([sh("echo x > kept.txt")])
      expect(await readdir(folder)).toHaveLength(1)
      expect(processesWith(folder)).toHaveLength(1)
      await executor.stop()
      expect(await readdir(folder)).toEqual([])
      expect(processesWith(folder)).toEqual([])
    } finally {
      if (before === undefined) delete process.env["TMPDIR"]
      else process.env["TMPDIR"] = before
      await rm(folder, { recursive: true, force: true })
    }
  })

  it("need a folder for temporary files, and say so", async () => {
    const before = process.env["TMPDIR"]
    process.env["TMPDIR"] = "/nowhere/at/all"
    try {
      await using executor = local()
      await expectFailure(executor.start(), "WORKSPACE_FAILED", /\/nowhere\/at\/all.*TMPDIR/)
      await expectFailure(createVirtualEnvironment("/tmp/never"), "WORKSPACE_FAILED", /TMPDIR/)
    } finally {
      if (before === undefined) delete process.env["TMPDIR"]
      else process.env["TMPDIR"] = before
    }
  })

  it("can write to /dev/stdout and /dev/stderr by name, as in any shell", async () => {
    await using executor = local()
    const code = `echo a > /dev/stdout\necho b | tee /dev/stderr > /dev/null`
    const { stdout, stderr, exitCode } = await executor.executeCodeBlocks([{ language: "bash", code }])
    expect([stdout, stderr, exitCode]).toEqual(["a\n", "b\n", 0])
  })

  it("are not held up by a mkfifo that is missing", async () => {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-path-"))
    const path = process.env["PATH"]
    process.env["PATH"] = folder
    try {
      await using executor = local()
      const { stdout } = await executor.executeCodeBlocks([sh("echo plain")])
      expect(stdout).toBe("plain\n")
    } finally {
      process.env["PATH"] = path
      await rm(folder, { recursive: true })
    }
  })
})
