import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { begin, rejectionOf, succeed } from "../../testing/expectations.ts"
import { programsIn, python, sh } from "../../testing/programs.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { containersWith, dockerCommand, exists, foreignContainer } from "./docker-command.test-kit.ts"
import { HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"

const { print, show, wait, write } = programsIn(["python"])
const session = (options = {}): ReturnType<typeof docker> => docker({ isolation: "session", ...options })

describe.skipIf(HAS_NO_DOCKER)("a session", () => {
  it("keeps its container, with files outside the workspace too, but no processes", async () => {
    await using executor = session()
    const first = await succeed(executor, sh("echo kept > /tmp/kept; echo here > here; sleep 1000 &"))
    const second = await succeed(executor, sh("cat /tmp/kept here; ps | grep -c '[s]leep 1000'; true"))
    expect(second.stdout).toBe("kept\nhere\n0\n")
    expect(second.sandbox.containerId).toBe(first.sandbox.containerId)
    expect(second.sandbox.isolation).toBe("session")
  })

  it("goes on after a timeout and an abort, with its files", async () => {
    await using executor = session({ timeout: "1s" })
    const { sandbox } = await succeed(executor, sh("echo kept > /tmp/kept"))
    const late = await executor.executeCodeBlocks([write("late", "late"), wait("on")])
    expect([late.termination, late.artifacts.map(({ path }) => path)]).toEqual(["timeout", ["late"]])
    const controller = new AbortController()
    const { result, spoke } = begin(executor, [wait("on")], { signal: controller.signal })
    const rejected = rejectionOf(result)
    await spoke
    controller.abort(new Error("enough"))
    await rejected
    const after = await succeed(executor, sh("cat /tmp/kept late"))
    expect([after.stdout, after.sandbox.containerId]).toEqual(["kept\nlate", sandbox.containerId])
  })

  it("goes on after a call that was refused", async () => {
    await using executor = session()
    const { sandbox } = await succeed(executor, sh("echo kept > /tmp/kept"))
    await expectFailure(
      executor.executeCodeBlocks([{ language: "powershell", code: "x" }]),
      "LANGUAGE_UNAVAILABLE",
    )
    const after = await succeed(executor, sh("cat /tmp/kept"))
    expect([after.stdout, after.sandbox.containerId]).toEqual(["kept\n", sandbox.containerId])
  })

  it("runs one call at a time, in order", async () => {
    await using executor = session({ concurrency: 4 })
    const code = sh("n=$(cat n 2>/dev/null || echo 0); sleep 0.1; echo $((n + 1)) > n; cat n")
    const results = await Promise.all([1, 2, 3, 4].map(async () => succeed(executor, code)))
    expect(results.map(({ stdout }) => stdout)).toEqual(["1\n", "2\n", "3\n", "4\n"])
  })

  it("that was lost says so once, and the next call begins a new one", async () => {
    await using executor = session({ containerName: `gb-lost-${process.pid}` })
    for (let round = 0; round < 2; round += 1) {
      const { sandbox } = await succeed(executor, write("file", "x"))
      await dockerCommand("kill", sandbox.containerId ?? "")
      await expect.poll(async () => exists(sandbox.containerId ?? ""), { timeout: 10_000 }).toBe(false)
      await expectFailure(executor.executeCodeBlocks([show("file")]), "SANDBOX_LOST")
      const fresh = await succeed(executor, show("file"))
      expect(fresh.stdout).toBe("absent")
      expect(fresh.sandbox.containerId).not.toBe(sandbox.containerId)
    }
  })

  it("that is lost while code runs rejects that call alone", async () => {
    await using executor = session({ containerName: `gb-torn-${process.pid}` })
    await executor.start()
    const { result, spoke } = begin(executor, [wait("on")])
    const failure = expectFailure(result, "SANDBOX_LOST")
    await spoke
    await dockerCommand("kill", `gb-torn-${process.pid}`)
    await failure
    expect((await succeed(executor, print("fine"))).stdout).toBe("fine")
  })

  it("has its container's name to itself, and can be restarted under it", async () => {
    const name = `gb-named-${process.pid}`
    await using first = session({ containerName: name })
    const { sandbox } = await succeed(first, write("file", "x"))
    expect((await containersWith(`name=^${name}$`)).map(({ id }) => id)).toEqual([sandbox.containerId])
    await using second = session({ containerName: name })
    await expectFailure(second.executeCodeBlocks([print("x")]), "CONTAINER_NAME_TAKEN", new RegExp(name))
    expect((await succeed(first, show("file"))).stdout).toBe("x")
    for (let round = 0; round < 3; round += 1) {
      await first.restart()
      expect((await succeed(first, show("file"))).stdout).toBe("absent")
    }
    await first.stop()
    expect((await succeed(second, print("mine now"))).stdout).toBe("mine now")
  })

  it("never removes a foreign container of its name", async () => {
    const name = `gb-foreign-${process.pid}`
    await using foreign = await foreignContainer(name)
    await using executor = session({ containerName: name })
    await expectFailure(executor.executeCodeBlocks([print("x")]), "CONTAINER_NAME_TAKEN")
    await executor.stop()
    expect((await containersWith(`id=${foreign.id}`)).map(({ state }) => state)).toEqual(["running"])
  })

  it("mirrors a folder of the host both ways, between calls", async () => {
    const folder = await mkdtemp(join(tmpdir(), "gb-session-"))
    try {
      await using executor = session({ workDir: folder })
      await writeFile(join(folder, "in.txt"), "from the host")
      await succeed(executor, python(`open("out.txt", "w").write(open("in.txt").read().upper())`))
      expect(await readFile(join(folder, "out.txt"), "utf8")).toBe("FROM THE HOST")
      await writeFile(join(folder, "in.txt"), "changed")
      await rm(join(folder, "out.txt"))
      const { stdout } = await succeed(executor, show("in.txt"), show("out.txt"))
      expect(stdout).toBe("changedabsent")
      // Files of a call that was given up are neither lost nor mixed with those of the next.
      await writeFile(join(folder, "large"), Buffer.alloc(30_000_000, 1))
      const controller = new AbortController()
      const loop = async (): Promise<void> => {
        for await (const event of executor.stream([print("x")], { signal: controller.signal })) {
          if (event.type === "started") controller.abort(new Error("enough"))
        }
      }
      await rejectionOf(loop())
      const sum = await succeed(
        executor,
        python(`import os\ndata = open("large", "rb").read()\nprint(len(data), set(data))`),
      )
      expect(sum.stdout).toBe("30000000 {1}\n")
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it("brings changes of a call that was given up to the host with the next", async () => {
    const folder = await mkdtemp(join(tmpdir(), "gb-session-"))
    try {
      await using executor = session({ workDir: folder })
      const controller = new AbortController()
      const loop = async (): Promise<void> => {
        const make = python(`open("a.bin", "wb").write(bytes(20_000_000))`)
        for await (const event of executor.stream([make], { signal: controller.signal })) {
          if (event.type === "block-finished") controller.abort(new Error("enough"))
        }
      }
      await rejectionOf(loop())
      await succeed(executor, print("next"))
      expect((await readFile(join(folder, "a.bin"))).length).toBe(20_000_000)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
