import { afterAll, describe, expect, it } from "vitest"
import type { CodeResult } from "../code-result.ts"
import { peakMemory } from "./wasm-children.test-kit.ts"
import { WasmCodeExecutor } from "./wasm-code-executor.ts"

const shared = new WasmCodeExecutor({ pool: { size: 1 }, memory: "64MiB" })
afterAll(async () => shared.stop())

async function run(language: string, code: string, executor = shared): Promise<CodeResult> {
  return executor.executeCodeBlocks([{ language, code }])
}

const MiB = 1024 ** 2

describe("a program that abuses what it is given", () => {
  it("cannot make the host hold a file for it", async () => {
    await using executor = new WasmCodeExecutor({ memory: "64MiB", pool: false })
    const blocks = [
      { language: "python", code: "f = open('big', 'wb'); f.truncate(60 * 2**20); f.close()" },
      {
        language: "javascript",
        code: `const fs = require("fs"); const seen = []
for (let round = 0; round < 5; round++) for (const how of [undefined, "utf8"])
  try { seen.push(fs.readFileSync("big", how).length) } catch (error) { seen.push(error.message) }
await import("./big").catch((error) => seen.push(error.message))
console.log(new Set(seen).size, seen.at(-1))`,
      },
    ]
    let result: CodeResult | undefined
    const peak = await peakMemory(async () => {
      result = await executor.executeCodeBlocks(blocks)
    })
    expect(result?.stdout).toMatch(/^1 EFBIG|^2 EFBIG/)
    expect(peak).toBeLessThan(400 * MiB)
    const sparse = await run("python", "open('f', 'wb').truncate(2**40)", executor)
    expect(sparse.stderr).toMatch(/File too large/)
  })

  it("cannot pass off an object as bytes", async () => {
    const code = `globalThis.Uint8Array = function () { return { length: 3e9 } }
ArrayBuffer.isView = () => true
const fs = require("fs")
fs.writeFileSync("a", new ArrayBuffer(3))
for (const odd of [{ length: 3e9 }, { byteLength: 3e9 }, [1, 2], new Proxy(new Uint16Array(4), {}), null, 7])
  try { fs.writeFileSync("b", odd); console.log("TOOK", typeof odd) } catch (error) { if (!(error instanceof TypeError)) console.log(error) }
fs.writeFileSync("c", new DataView(new ArrayBuffer(4), 1, 2))
fs.writeFileSync("d", new Uint16Array([0x6161, 0x6262]).subarray(1))
console.log(fs.statSync("a").size, fs.existsSync("b"), fs.statSync("c").size, fs.readFileSync("d", "utf8"))`
    let result: CodeResult | undefined
    const peak = await peakMemory(async () => {
      result = await run("javascript", code)
    })
    expect([result?.stdout, result?.stderr, result?.exitCode]).toEqual(["3 false 2 bb\n", "", 0])
    expect(peak).toBeLessThan(400 * MiB)
  })

  it("reads and writes text and bytes of any length whole", async () => {
    const code = `const fs = require("fs")
const text = "aé😀".repeat(70_000)
fs.writeFileSync("t", text); fs.appendFileSync("t", "end")
console.log(fs.readFileSync("t", "utf8") === text + "end", fs.statSync("t").size)
const bytes = new TextEncoder().encode(text)
console.log(bytes.length, new TextDecoder().decode(bytes) === text, new TextEncoder().encode("").length)
fs.writeFileSync("e", ""); console.log(fs.readFileSync("e").length, JSON.stringify(fs.readFileSync("e", "utf8")))
for (let i = 0; i < 1500; i++) fs.writeFileSync("n" + i, "")
console.log(fs.readdirSync(".").filter((name) => name.startsWith("n")).length)`
    expect((await run("javascript", code)).stdout).toBe(`true 490003\n490000 true 0\n0 ""\n1500\n`)
  })

  it("can ask the host as often as it likes: answers do not pile up", async () => {
    const code = `const fs = require("fs"); fs.writeFileSync("a", "x".repeat(1e6))
for (let i = 0; i < 200; i++) fs.readFileSync("a")
for (let i = 0; i < 200; i++) fs.readFileSync("a", "utf8")
for (let i = 0; i < 300; i++) new TextEncoder().encode("x".repeat(3e5))
for (let i = 0; i < 20000; i++) fs.existsSync("a")
console.log("done")`
    expect(await run("javascript", code)).toMatchObject({ stdout: "done\n", exitCode: 0 })
  })

  it("is not taken for one that ran out of memory because it says so, or did and coped", async () => {
    const plain = await run("javascript", "throw new Error('The printer is out of memory cards')")
    expect([plain.termination, plain.exitCode]).toEqual(["exit", 1])
    const caught = `try { const h = []; for (;;) h.push(new Array(100000).fill(1)) } catch (error) { console.log(String(error)) }
process.exit(3)`
    expect(await run("javascript", caught)).toMatchObject({ termination: "exit", exitCode: 3 })
    const coped = `import sys\nhoard = []
try:
  while True: hoard.append(bytearray(100_000))
except MemoryError: hoard = None
sys.exit(3)`
    expect(await run("python", coped)).toMatchObject({ termination: "exit", exitCode: 3 })
  })

  it("throws what it likes, and that is told as far as it can be", async () => {
    const thrown = {
      "throw new Proxy(new Error('x'), { get() { throw 1 }, getPrototypeOf() { throw 3 } })":
        /cannot be shown/,
      "throw { get name() { throw 1 }, get message() { throw 2 }, toString() { throw 3 } }": /Uncaught/,
      "throw undefined": /Uncaught undefined/,
      "Promise.prototype.then = null; throw new Error('plain')": /plain/,
      "console.log({ get a() { throw new Error('boo') } }); throw 1": /Uncaught 1/,
    }
    for (const [code, seen] of Object.entries(thrown)) {
      const { exitCode, stderr } = await run("javascript", code)
      expect([code, exitCode]).toEqual([code, 1])
      expect(stderr).toMatch(seen)
    }
  })

  it("removes a link and not what it leads to", async () => {
    const { stdout } = await shared.executeCodeBlocks([
      {
        language: "python",
        code: "import os; os.makedirs('tree/x'); open('tree/x/f', 'w'); os.symlink('tree', 'l'); os.makedirs('own/e'); os.symlink('../tree', 'own/l')",
      },
      {
        language: "javascript",
        code: `const fs = require("fs"); console.log(fs.lstatSync("l").isSymbolicLink())
fs.rmSync("l", { recursive: true }); fs.rmSync("own", { recursive: true })
console.log(fs.existsSync("tree/x/f"), fs.existsSync("l"), fs.existsSync("own"))`,
      },
    ])
    expect(stdout).toBe("true\ntrue false false\n")
  })

  it("finds modules beside the module that asks, with types or without", async () => {
    const { stdout, stderr } = await shared.executeCodeBlocks([
      {
        language: "python",
        code: `import os; os.makedirs("lib/deep")
open("b.js", "w").write("module.exports = 'WRONG'")
open("lib/a.js", "w").write("module.exports = [require('./b'), require('./deep/t'), require('./deep/data.json').n]")
open("lib/b.js", "w").write("!function () { module.exports = 7 }()")
open("lib/deep/t.ts", "w").write("const q: number = 1; module.exports = require('../b') + q")
open("lib/deep/data.json", "w").write('{"n": 5}')`,
      },
      { language: "javascript", code: "console.log(require('./lib/a'))" },
    ])
    expect([stdout, stderr]).toEqual(["[ 7, 8, 5 ]\n", ""])
  })

  it("is a module by its syntax, and not by what its texts say", async () => {
    const text =
      "const t = `\nimport x from 'y'\nexport default 1\n`\nimplicit = t.length; console.log(implicit)"
    expect((await run("javascript", text)).stdout).toBe("36\n")
    expect((await run("javascript", `${"\n".repeat(200_000)}console.log("import")`)).stdout).toBe("import\n")
    expect(
      (await run("javascript", "/* a */ import { existsSync } from 'fs'; console.log(existsSync('x'))"))
        .stdout,
    ).toBe("false\n")
  })

  it("hears that there are no other encodings", async () => {
    const code = `const fs = require("fs")
for (const attempt of [() => fs.writeFileSync("b", "6869", "hex"), () => fs.readFileSync("b", "base64"), () => new TextDecoder("latin1")])
  try { attempt(); console.log("TOOK") } catch (error) { console.log(error.message) }
console.log(fs.existsSync("b"))`
    const { stdout } = await run("javascript", code)
    expect(stdout).toMatch(/^.*hex.*utf8 only.*\n.*base64.*\n.*latin1.*\nfalse\n$/)
  })

  it("that aborts is told by the known name of the signal", async () => {
    expect((await run("python", "import os; os.abort()")).blocks[0]).toMatchObject({
      signal: "SIGABRT",
      exitCode: 134,
    })
  })

  it("that has Python talk at its start still gets its own output only, or hears why there is none", async () => {
    await using loud = new WasmCodeExecutor({ pool: false, env: { PYTHONVERBOSE: "1" } })
    expect((await run("python", "print(1)", loud)).stdout).toBe("1\n")
    await using none = new WasmCodeExecutor({ pool: false, env: { PYTHONMALLOC: "nonsense" } })
    await expect(run("python", "print(1)", none)).rejects.toMatchObject({
      code: "SANDBOX_SETUP_FAILED",
      message: /PYTHONMALLOC: unknown allocator/,
    })
  })

  it("gets a hint for what is missing, and none for a slip of its own", async () => {
    expect((await run("python", "import xml.etre")).stderr).not.toMatch(/glovebox/)
    expect((await run("python", "raise OSError(58, 'odd')")).stderr).not.toMatch(/network/)
  })
})
