import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { stillWorks, succeed, within } from "../../testing/expectations.ts"
import { programsIn, python, sh } from "../../testing/programs.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import type { CodeBlock } from "../code-block.ts"
import { pythonFunction } from "../functions/python-function.ts"
import { dockerCommand } from "./docker-command.test-kit.ts"
import { HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"
import { busyboxRoot, fileEntry } from "./image-files.test-kit.ts"
import { derivedImage, nodeFiles, nodeIsAtLeast, scratchImage } from "./node-image.test-kit.ts"

const WITH_PYTHON = `glovebox-test/node-and-python:${process.pid}`
const WITH_SHELL = `glovebox-test/node-and-sh:${process.pid}`
const ALONE = `glovebox-test/node-alone:${process.pid}`

function js(code: string): CodeBlock {
  return { language: "javascript", code }
}

describe.skipIf(HAS_NO_DOCKER)("an image with Node", () => {
  beforeAll(async () => {
    const node = await nodeFiles()
    await derivedImage(WITH_PYTHON, node)
    await scratchImage(WITH_SHELL, [...(await busyboxRoot()), ...node])
    await scratchImage(ALONE, [fileEntry("etc/nothing", ""), ...node])
  })
  afterAll(async () => {
    for (const image of [WITH_PYTHON, WITH_SHELL, ALONE]) {
      await dockerCommand("rmi", "-f", image).catch(() => "")
    }
  })

  describe.each([
    ["and Python", WITH_PYTHON],
    ["and a shell alone", WITH_SHELL],
  ])("%s", (_name, image) => {
    it("runs JavaScript by all its names", async () => {
      await using executor = docker({ image, pool: false })
      const code = `console.log(process.version, [1, 2, 3].map((n) => n ** 2).join())`
      const blocks = ["javascript", "js", "node", " JS "].map((language) => ({ language, code }))
      const { stdout, codeFile } = await succeed(executor, ...blocks)
      expect(stdout).toBe(`${process.version} 1,4,9\n`.repeat(4))
      expect(codeFile).toMatch(/^tmp_code_[0-9a-f]{64}\.js$/)
    })

    it("takes both require and import, where Node tells them apart", async () => {
      await using executor = docker({ image, pool: false })
      const required = js(
        `const { basename } = require("node:path")\nconsole.log(basename(__filename).length)`,
      )
      expect((await succeed(executor, required)).stdout).toBe(`${"tmp_code_".length + 64 + 3}\n`)
      const imported = js(
        `import { basename } from "node:path"\nconsole.log(await Promise.resolve(basename("a/imported")))`,
      )
      const { exitCode, stdout, stderr } = await executor.executeCodeBlocks([imported])
      const isTold = nodeIsAtLeast("20.19", "22.7")
      expect([exitCode, stdout]).toEqual(isTold ? [0, "imported\n"] : [1, ""])
      expect(stderr).toMatch(isTold ? /^$/ : /import statement outside a module/)
    })

    it("gives the exit code, the signal and what was written of a program that fails", async () => {
      await using executor = docker({ image, pool: false })
      const outcomes: unknown[] = []
      for (const code of [
        `process.exitCode = 7`,
        `process.exit(200)`,
        `console.log("before"); throw new TypeError("thrown")`,
        `Promise.reject(new RangeError("nobody caught this"))`,
        `const x = ;`,
        `process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000)`,
      ]) {
        const { exitCode, termination, stdout, stderr, blocks } = await executor.executeCodeBlocks([js(code)])
        const [word] = /thrown|nobody caught this|SyntaxError/.exec(stderr) ?? []
        outcomes.push([exitCode, termination, blocks[0]?.signal, stdout, word])
      }
      expect(outcomes).toEqual([
        [7, "exit", undefined, "", undefined],
        [200, "exit", undefined, "", undefined],
        [1, "exit", undefined, "before\n", "thrown"],
        [1, "exit", undefined, "", "nobody caught this"],
        [1, "exit", undefined, "", "SyntaxError"],
        [143, "signal", "SIGTERM", "", undefined],
      ])
    })

    it("carries files and modules between calls and languages, and gives them back", async () => {
      await using executor = docker({ image, pool: { size: 1 } })
      const first = await succeed(
        executor,
        js(`// filename: lib/tools.cjs\nmodule.exports = { twice: (n) => 2 * n }`),
        js(`const { twice } = require("./lib/tools.cjs")
require("fs").mkdirSync("out")
require("fs").writeFileSync("out/result.json", JSON.stringify({ answer: twice(21), text: "ä\\u2028" }))`),
      )
      expect(first.artifacts.map(({ path }) => path)).toEqual(["out/result.json"])
      const { stdout } = await succeed(
        executor,
        sh("cat out/result.json"),
        js(`console.log(require("./lib/tools.cjs").twice(require("./out/result.json").answer))`),
      )
      expect(stdout).toBe(`${JSON.stringify({ answer: 42, text: "ä\u2028" })}84\n`)
    })

    it("runs threads, processes, timers and files that do not block", async () => {
      await using executor = docker({ image, pool: false })
      const code = `const { Worker } = require("worker_threads")
const { execFileSync } = require("child_process")
const fs = require("fs/promises")
const worker = new Worker("require('worker_threads').parentPort.postMessage('worker')", { eval: true })
worker.once("message", async (message) => {
  await fs.writeFile("file", "file")
  await new Promise((resolve) => setTimeout(resolve, 20))
  const child = execFileSync(process.execPath, ["-p", "'child'"]).toString().trim()
  console.log(message, await fs.readFile("file", "utf8"), child, require("crypto").randomBytes(4).length)
})`
      expect((await succeed(executor, js(code))).stdout).toBe("worker file child 4\n")
    })

    it("bounds the time and the output of a program", async () => {
      await using executor = docker({
        image,
        pool: false,
        timeout: "2s",
        policy: { limits: { output: 10_000 } },
      })
      const busy = await within(
        executor.executeCodeBlocks([js(`console.log("so far")\nfor (;;);`)]),
        20,
        "the busy loop",
      )
      expect([busy.exitCode, busy.termination, busy.stdout]).toEqual([124, "timeout", "so far\n"])
      const big = await succeed(executor, js(`console.log("a" + "x".repeat(1_000_000) + "z")`))
      expect([big.truncated, big.output.startsWith("ax"), big.output.endsWith("xz\n")]).toEqual([
        true,
        true,
        true,
      ])
      expect(big.output.length).toBeLessThan(11_000)
      await stillWorks(executor, (text) => js(`process.stdout.write(${JSON.stringify(text)})`))
    })

    it("gives back large output and large files as they are", async () => {
      await using executor = docker({ image, pool: false, policy: { limits: { output: "4MiB" } } })
      const code = `const line = "0123456789".repeat(10) + "\\n"
process.stdout.write(line.repeat(20_000))
require("fs").writeFileSync("large", Buffer.alloc(5_000_000, "abc\\0"))`
      const { stdout, truncated, artifacts } = await succeed(executor, js(code))
      expect([stdout.length, truncated]).toEqual([2_020_000, false])
      expect(stdout.endsWith(`${"0123456789".repeat(10)}\n`)).toBe(true)
      const expected = Buffer.alloc(5_000_000, "abc\0")
      expect(Buffer.compare(artifacts[0]?.content ?? Buffer.of(), expected)).toBe(0)
    })

    it("runs TypeScript by both names, or says why not", async () => {
      await using executor = docker({ image, pool: false })
      const code = `interface Point { readonly x: number }
const points: Point[] = [{ x: 40 }, { x: 2 }]
const sum = (list: readonly Point[]): number => list.reduce((all, { x }: Point) => all + x, 0)
console.log(sum(points) satisfies number)`
      for (const language of ["typescript", "ts"]) {
        const { exitCode, stdout, stderr } = await executor.executeCodeBlocks([{ language, code }])
        expect([exitCode, stdout]).toEqual(nodeIsAtLeast("22.7") ? [0, "42\n"] : [9, ""])
        expect(stderr).toMatch(nodeIsAtLeast("22.7") ? /^$/ : /bad option: --experimental-strip-types/)
      }
    })
  })

  it("and no Python says so when Python is asked for, and works on, also for calls at once", async () => {
    await using executor = docker({ image: WITH_SHELL })
    const hello = js(`console.log("hello")`)
    const results = await Promise.all([0, 1, 2].map(async () => succeed(executor, hello)))
    expect(results.map(({ stdout }) => stdout)).toEqual(["hello\n", "hello\n", "hello\n"])
    const failure = await expectFailure(
      executor.executeCodeBlocks([hello, python("print(1)")]),
      "LANGUAGE_UNAVAILABLE",
      /has no python3.*install Python 3/,
    )
    expect(failure.message).toContain(WITH_SHELL)
    await stillWorks(executor, programsIn(["sh"]).print)
  })

  it("and no Python refuses functions in Python, and says what is missing", async () => {
    const functions = [pythonFunction({ source: "def f(): pass" })]
    await using executor = docker({ image: WITH_SHELL, functions })
    await expectFailure(executor.start(), "LANGUAGE_UNAVAILABLE", /python3/)
  })

  it("and neither Python nor a shell is refused, and the error says so", async () => {
    await using executor = docker({ image: ALONE })
    const failure = await expectFailure(
      executor.executeCodeBlocks([js("1")]),
      "IMAGE_UNAVAILABLE",
      /neither python3 nor sh/,
    )
    expect(failure.message).toContain(ALONE)
  })
})
