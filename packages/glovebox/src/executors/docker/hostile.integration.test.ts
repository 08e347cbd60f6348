import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"

const python = (code: string): { code: string; language: string } => ({ code, language: "python" })

async function folder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "glovebox-hostile-"))
  return { path, [Symbol.asyncDispose]: async () => rm(path, { recursive: true, force: true }) }
}

describe.skipIf(HAS_NO_DOCKER)("what one call leaves for the next", () => {
  it("a start file of Python in a mounted workspace does not speak for the agent", async () => {
    await using shared = await folder()
    // The container's user must be able to write there.
    const { chmod } = await import("node:fs/promises")
    await chmod(shared.path, 0o777)
    await using executor = docker({ bindDir: shared.path, pool: false })
    const plant = `import os, site
os.makedirs(site.getusersitepackages())
open(site.getusersitepackages() + "/usercustomize.py", "w").write("import os; os.write(1, b'forged'); os._exit(0)")
open("linecache.py", "w").write("import os; os.write(1, b'forged'); os._exit(0)")`
    expect((await executor.executeCodeBlocks([python(plant)])).exitCode).toBe(0)
    const { exitCode, output } = await executor.executeCodeBlocks([
      { language: "sh", code: "echo mine; exit 3" },
    ])
    expect([exitCode, output]).toEqual([3, "mine\n"])
  })

  it("a file that is larger than the workspace does not keep later calls from running", async () => {
    await using executor = docker({ policy: { limits: { workspace: "16MiB" } } })
    const { artifactsTruncated } = await executor.executeCodeBlocks([
      python("open('sparse', 'wb').truncate(40 << 20)"),
    ])
    expect(artifactsTruncated).toBe(true)
    expect((await executor.executeCodeBlocks([python("print('fine')")])).output).toBe("fine\n")
  })

  it("a work folder that would grow over what can be carried is left as it was", async () => {
    await using work = await folder()
    await writeFile(join(work.path, "mine.txt"), "mine")
    await using executor = docker({ workDir: work.path, carry: { maxBytes: "1MiB" } })
    for (const name of ["a", "b"]) {
      await executor.executeCodeBlocks([python(`open("${name}", "wb").write(bytes(700_000))`)])
    }
    const { output } = await executor.executeCodeBlocks([
      python("import os; print(sorted(os.listdir('.'))[:3])"),
    ])
    expect(output).toMatch(/'a', 'mine\.txt'/)
    expect(await readFile(join(work.path, "mine.txt"), "utf8")).toBe("mine")
  })

  it("a folder in the place of a later block's file gives way to it", async () => {
    await using executor = docker()
    await executor.executeCodeBlocks([
      python("import os; os.makedirs('main.py/deep'); open('main.py/deep/x', 'w')"),
    ])
    const { output } = await executor.executeCodeBlocks([python("# filename: main.py\nprint('mine')")])
    expect(output).toBe("mine\n")
  })
})

describe.skipIf(HAS_NO_DOCKER)("a session", () => {
  it("never runs what was cancelled before it could begin", async () => {
    await using executor = docker({ isolation: "session" })
    await executor.executeCodeBlocks([python("1")])
    const stop = new AbortController()
    const reason = new Error("enough")
    // More than the connection holds, so that it is still on its way when the call is cancelled.
    const large = `open('ran', 'w')\n${`#${"x".repeat(1000)}\n`.repeat(30_000)}`
    const cancelled = (async () => {
      for await (const { type } of executor.stream([python(large)], { signal: stop.signal })) {
        if (type === "block-started") stop.abort(reason)
      }
    })()
    await expect(cancelled).rejects.toBe(reason)
    const { output } = await executor.executeCodeBlocks([python("import os; print(os.path.exists('ran'))")])
    expect(output).toBe("False\n")
  })

  it("survives a program that closes the workspace to everyone", async () => {
    await using executor = docker({ isolation: "session" })
    const { exitCode } = await executor.executeCodeBlocks([
      python("import os; open('kept', 'w').write('1'); os.chmod('.', 0)"),
    ])
    expect(exitCode).toBe(0)
    expect((await executor.executeCodeBlocks([python("print(open('kept').read())")])).output).toBe("1\n")
  })
})

describe.skipIf(HAS_NO_DOCKER)("stopping", () => {
  it("does not wait for a command that sets a container up", async () => {
    const executor = docker({ initCommand: "sleep 30" })
    const starting = executor.start()
    starting.catch(() => {})
    const began = performance.now()
    // Long enough for the command to be under way.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    await executor.stop()
    expect(performance.now() - began).toBeLessThan(15_000)
    await expectFailure(starting, "EXECUTOR_STOPPED")
  })

  it("counts when it comes after a start that still waits", async () => {
    const executor = docker({ pool: false })
    await executor.start()
    const ends = await Promise.allSettled([executor.stop(), executor.start(), executor.stop()])
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
    await expectFailure(executor.executeCodeBlocks([python("1")]), "EXECUTOR_STOPPED")
  })
})

it("an image's name cannot lead to another address of the engine", () => {
  for (const image of ["x/../../info", "x//y", "../x", "x/./y", "-x", "x/-y", "a..b/c:d:e"]) {
    expect(() => docker({ image })).toThrow(/image: is not the name of an image/)
  }
  for (const image of [
    "python:3-slim",
    "ghcr.io/a/b_c:v1.2",
    "localhost:5000/x/y:z",
    `a/b@sha256:${"0".repeat(64)}`,
  ]) {
    expect(docker({ image }).policy.fields.image).toBe(image)
  }
})
