import { afterAll, describe, expect, it } from "vitest"
import type { CodeResult } from "../code-result.ts"
import { children, peakMemory } from "./wasm-children.test-kit.ts"
import { WasmCodeExecutor } from "./wasm-code-executor.ts"

const shared = new WasmCodeExecutor({ pool: { size: 1 } })
afterAll(async () => shared.stop())

async function run(language: string, code: string, executor = shared): Promise<CodeResult> {
  return executor.executeCodeBlocks([{ language, code }])
}

describe("a hostile program in the embedded sandbox", () => {
  it("sees no file of the host, and writes none", async () => {
    const { stdout, exitCode } = await run(
      "python",
      `import os
seen = []
for folder, folders, files in os.walk("/"):
    seen += [os.path.join(folder, name) for name in files]
print(sorted(path for path in seen if not path.startswith("/workspace/tmp_code_")))
for path in ("/etc/passwd", "/proc/self/environ", "/root", "/home", "/workspace/../../etc/passwd", "/dev/glovebox", ${JSON.stringify(import.meta.filename)}):
    try: print("OPEN", path, os.open(path, os.O_RDONLY))
    except OSError as error: pass
for path in ("/x", "/etc", "/dev/x", "/usr/local/lib/x"):
    try: open(path, "w"); print("WROTE", path)
    except OSError: pass`,
    )
    expect([stdout, exitCode]).toEqual(["['/dev/null']\n", 0])
  })

  it("finds in JavaScript neither Node nor a way to it", async () => {
    const broken = { language: "python", code: `open("broken.ts", "w").write("const x: = (")` }
    const { stdout, exitCode, stderr } = await shared.executeCodeBlocks([
      broken,
      {
        language: "javascript",
        code: `const found = []
const scope = globalThis.constructor.constructor("return this")()
for (const name of ["Buffer", "fetch", "WebAssembly", "XMLHttpRequest", "Deno", "Bun", "importScripts"]) if (name in scope) found.push(name)
for (const name of ["binding", "mainModule", "dlopen", "kill", "pid"]) if (name in process) found.push("process." + name)
for (const name of ["child_process", "node:net", "os", "../../../etc/passwd", "/etc/passwd"]) {
  try { require(name); found.push(name) } catch {}
  try { await import(name); found.push(name) } catch {}
}
try { found.push(require("fs").readFileSync("/etc/passwd", "utf8")) } catch {}
const seen = async (attempt) => {
  try { await attempt() } catch (error) { found.push(...[String(error), String(error.stack)].filter((text) => /file:\\/\\/|node:|\\.mjs|node_modules|\\/work|\\/home|\\/root|\\/usr/.test(text))) }
}
const fs = require("fs")
await seen(() => { throw new Error("x") })
await seen(() => import("lodash"))
await seen(() => import("n".repeat(5000)))
await seen(() => import("./broken.ts"))
await seen(() => require("./broken.ts"))
await seen(() => fs.readFileSync("none"))
await seen(() => fs.readFileSync("p".repeat(5000)))
await seen(() => fs.readFileSync("\\0"))
await seen(() => fs.writeFileSync("x", {}))
await seen(() => fs.writeFileSync("x", new Proxy(new Uint8Array(1), {})))
await seen(() => new TextDecoder().decode({ length: 9 }))
globalThis.Uint8Array = function () { return { length: 3e9 } }
await seen(() => fs.writeFileSync("x", new ArrayBuffer(1)))
await seen(() => fs.writeFileSync("x", "text"))
console.log(JSON.stringify(found))`,
      },
    ])
    expect([stdout, exitCode, stderr]).toEqual(["[]\n", 0, ""])
  })

  it("is ended at the deadline while it only computes, and its process is used again in a session", async () => {
    await using executor = new WasmCodeExecutor({ isolation: "session", timeout: "1s" })
    await run("python", `open("kept", "w").write("still here")`, executor)
    const [before] = await children()
    for (const [language, code] of [
      ["python", "while True: pass"],
      ["javascript", "for (;;) {}"],
      ["javascript", "await new Promise(() => setInterval(() => {}, 1000))"],
    ] as const) {
      const { exitCode, termination, stateLost } = await run(language, code, executor)
      expect([language, exitCode, termination, stateLost]).toEqual([language, 124, "timeout", true])
    }
    const { stdout, stateLost } = await run("python", `print(open("kept").read())`, executor)
    expect([stdout, stateLost]).toEqual(["still here\n", false])
    expect(await children()).toContain(before)
  })

  it("that was cancelled in a session is told of with the next result: its variables are gone", async () => {
    await using executor = new WasmCodeExecutor({ isolation: "session" })
    await run("python", "x = 1", executor)
    const cancel = new AbortController()
    const blocks = [{ language: "python", code: "print('begun', flush=True)\nwhile True: pass" }]
    const cancelled = executor.executeCodeBlocks(blocks, {
      signal: cancel.signal,
      onOutput: () => cancel.abort(new Error("enough")),
    })
    await expect(cancelled).rejects.toThrow("enough")
    const next = await run("python", "print('x' in globals())", executor)
    expect([next.stdout, next.stateLost]).toEqual(["False\n", true])
    expect(next.stateLostBecause).toMatch(/interpreter python3 was ended/)
  })

  it("loses its call, and no more, when its process is killed from outside", async () => {
    await using executor = new WasmCodeExecutor({ pool: false })
    const others = new Set(await children())
    const loop = async (): Promise<void> => {
      const code = `print("on", flush=True)\nwhile True: pass`
      for await (const event of executor.stream([{ language: "python", code }])) {
        if (event.type !== "stdout") continue
        const victims = (await children()).filter((pid) => !others.has(pid))
        for (const pid of victims) process.kill(pid, "SIGKILL")
      }
    }
    await expect(loop()).rejects.toMatchObject({ code: "SANDBOX_LOST" })
    expect((await run("python", "print(1)", executor)).stdout).toBe("1\n")
  })

  it("cannot take more memory than its limit, in Python or JavaScript, as its process shows", async () => {
    await using executor = new WasmCodeExecutor({ memory: "64MiB", pool: false })
    const bombs = {
      python: `hoard = []\nwhile True: hoard.append(bytearray(1_000_000))`,
      javascript: `const hoard = []; for (;;) hoard.push(new Array(1000).fill(1))`,
    }
    for (const [language, code] of Object.entries(bombs)) {
      let result: CodeResult | undefined
      const peak = await peakMemory(async () => {
        result = await run(language, code, executor)
      })
      expect([result?.termination, result?.exitCode, result?.blocks[0]?.limitsHit]).toEqual([
        "oom",
        137,
        ["memory"],
      ])
      expect(peak).toBeGreaterThan(50 * 1024 ** 2)
      expect(peak).toBeLessThan(450 * 1024 ** 2)
    }
  })

  it("sees MemoryError, and can go on after it", async () => {
    await using executor = new WasmCodeExecutor({ memory: "64MiB", pool: false })
    const code = `try: bytearray(500_000_000)\nexcept MemoryError: print("no room")`
    expect(await run("python", code, executor)).toMatchObject({
      stdout: "no room\n",
      exitCode: 0,
      termination: "exit",
    })
  })

  it("that recurses without end gets an error, and the session goes on", async () => {
    await using executor = new WasmCodeExecutor({ isolation: "session" })
    const python = await run("python", "def f(): f()\nf()", executor)
    expect([python.exitCode, python.stderr]).toEqual([1, expect.stringContaining("RecursionError")])
    const deep = await run("python", "x = []\nfor _ in range(100_000): x = [x]\nrepr(x)", executor)
    expect(deep.exitCode).not.toBe(0)
    const parsed = await run("python", `eval("(" * 100_000)`, executor)
    expect(parsed.exitCode).not.toBe(0)
    const script = await run("javascript", "function f() { f() }\nf()", executor)
    expect([script.exitCode, script.stderr]).toEqual([1, expect.stringMatching(/call stack|stack overflow/)])
    expect((await run("javascript", "console.log(1)", executor)).stdout).toBe("1\n")
    expect((await run("python", "print(1)", executor)).stdout).toBe("1\n")
  })

  it("writes without end, and what it writes costs neither side memory", async () => {
    await using executor = new WasmCodeExecutor({ timeout: "20s", policy: { limits: { output: 4096 } } })
    const code = `const line = "x".repeat(60_000); for (;;) console.log(line)`
    const { termination, truncated } = await run("javascript", code, executor)
    expect(["output-limit", "timeout"]).toContain(termination)
    expect(truncated).toBe(true)
  })

  it("fills /tmp no further than the workspace's bound, and nothing of it is there in the next call", async () => {
    await using executor = new WasmCodeExecutor({ policy: { limits: { workspace: "4MiB" } }, pool: false })
    const bomb = `with open("/tmp/bomb", "wb") as file:\n    while True: file.write(bytes(100_000))`
    const first = await run("python", bomb, executor)
    expect([first.termination, first.exitCode]).toEqual(["disk-full", 1])
    const look = `import os, sys\nprint(os.listdir("/tmp"), "marked" in dir(sys), "LEFT" in os.environ)`
    await run(
      "python",
      `import os, sys\nsys.marked = 1\nos.environ["LEFT"] = "1"\nopen("/tmp/x", "w")`,
      executor,
    )
    expect((await run("python", look, executor)).stdout).toBe("[] False False\n")
  })

  it("gets other random numbers and hashes in each run", async () => {
    const python = `import random, os\nprint(random.random(), hash("a"), os.urandom(8).hex())`
    const javascript = "console.log(Math.random(), Math.random())"
    for (const [language, code] of Object.entries({ python, javascript })) {
      const outputs = await Promise.all([run(language, code), run(language, code), run(language, code)])
      const parts = outputs.map(({ stdout }) => stdout.trim().split(" "))
      for (const index of parts[0]!.keys()) {
        expect(new Set(parts.map((part) => part[index])).size, `${language} ${index}`).toBe(3)
      }
    }
  })

  it("leaves no process behind", async () => {
    {
      await using executor = new WasmCodeExecutor({ pool: { size: 2 } })
      await run("python", "print(1)", executor)
    }
    const left = (await children()).length
    await shared.stop()
    expect(await children()).toHaveLength(0)
    expect(left).toBeLessThanOrEqual(2)
    await shared.start()
  })
})
