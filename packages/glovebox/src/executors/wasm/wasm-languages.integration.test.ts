import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import type { CodeResult } from "../code-result.ts"
import { pythonFunction } from "../functions/python-function.ts"
import { WasmCodeExecutor } from "./wasm-code-executor.ts"

const shared = new WasmCodeExecutor({ pool: { size: 1 } })
afterAll(async () => shared.stop())

async function run(language: string, code: string, executor = shared): Promise<CodeResult> {
  return executor.executeCodeBlocks([{ language, code }])
}

describe("the embedded executor", () => {
  it("runs without any option, and reports what it was", async () => {
    await using executor = new WasmCodeExecutor()
    const { stdout, sandbox } = await run("python", "print(6 * 7)", executor)
    expect(stdout).toBe("42\n")
    expect(sandbox).toMatchObject({
      kind: "wasm",
      isolation: "run",
      effective: {
        python: "3.12.0",
        quickjs: expect.stringMatching(/^\d/) as unknown,
        memory: { bytes: 512 * 1024 ** 2 },
        memoryAboveLimit: "denied",
        codeFromStrings: "denied",
        hostFiles: "denied",
        hostEnvironment: "denied",
      },
    })
  })

  it("hands files from one language to the other", async () => {
    const { stdout, artifacts } = await shared.executeCodeBlocks([
      { language: "python", code: `open("data.json", "w").write('{"a": [1, 2]}')` },
      {
        language: "javascript",
        code: `import { readFileSync, writeFileSync } from "node:fs"
const { a } = JSON.parse(readFileSync("data.json", "utf8"))
writeFileSync("sum.txt", String(a[0] + a[1]) + "é")`,
      },
      { language: "python", code: `print(open("sum.txt").read())` },
    ])
    expect(stdout).toBe("3é\n")
    expect(artifacts.map(({ path }) => path).toSorted()).toEqual(["data.json", "sum.txt"])
  })

  it("runs JavaScript: scripts and modules, timers, awaits, exit codes, errors with their place", async () => {
    expect((await run("js", `console.log("a", 1n, [1, { b: 2 }], null)`)).stdout).toBe(
      "a 1n [ 1, { b: 2 } ] null\n",
    )
    const timed = `setTimeout(() => console.log("second"), 20)\nawait null\nconsole.log("first")`
    expect((await run("js", timed)).stdout).toBe("first\nsecond\n")
    expect((await run("js", "process.exit(7)")).exitCode).toBe(7)
    expect((await run("js", "process.exitCode = 9")).exitCode).toBe(9)
    const thrown = await run("js", "\nthrow new TypeError('no good')")
    expect(thrown).toMatchObject({ exitCode: 1, stdout: "" })
    expect(thrown.stderr).toMatch(/TypeError: no good[^]*tmp_code_\w+\.js:2/)
    expect(await run("js", "let = (")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/SyntaxError/) as unknown,
    })
    expect(await run("js", `Promise.reject(new Error("lost"))`)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/lost/) as unknown,
    })
    expect((await run("js", `import { x } from "left-pad"`)).stderr).toMatch(/no packages.*docker/)
  })

  it("runs TypeScript, of which the types are taken out", async () => {
    const code = `interface Point { x: number }
enum Colour { Red = 3 }
const points: Point[] = [{ x: 1 }]
console.log(points.map(({ x }: Point): number => x + Colour.Red))`
    expect(await run("ts", code)).toMatchObject({ stdout: "[ 4 ]\n", exitCode: 0 })
    expect((await run("ts", "const x: = 3")).stderr).toMatch(/SyntaxError.*line 1/)
  })

  it("keeps what a session's programs made, in each language, and loses it by restart", async () => {
    await using executor = new WasmCodeExecutor({ isolation: "session" })
    await run("python", "import math\nvalue = 41\ndef more(): return value + 1", executor)
    await run("javascript", "let count = 1; const add = (n) => (count += n)", executor)
    expect((await run("python", "print(more(), math.pi > 3)", executor)).stdout).toBe("42 True\n")
    expect((await run("javascript", "console.log(add(2))", executor)).stdout).toBe("3\n")
    const failed = await run("python", "value = 50\nraise ValueError(value)", executor)
    expect(failed.exitCode).toBe(1)
    expect((await run("python", "import sys\nsys.exit(more())", executor)).exitCode).toBe(51)
    await executor.restart()
    expect((await run("python", "print('value' in globals())", executor)).stdout).toBe("False\n")
  })

  it("says what is missing, and where it is", async () => {
    const cases = {
      "import numpy":
        /ModuleNotFoundError: No module named 'numpy'\nglovebox: .*no packages such as numpy; the docker, jupyter and bubblewrap/,
      "import ssl": /ModuleNotFoundError: No module named 'ssl'\nglovebox: .*no module ssl; .*docker/,
      "import ctypes": /glovebox: .*no module ctypes; .*docker/,
      "import threading\nthreading.Thread(target=print).start()":
        /can't start new thread\nglovebox: .*no threads; .*docker/,
      "import subprocess\nsubprocess.run(['ls'])": /glovebox: .*no processes; .*docker/,
      "import os\nos.system('ls')": /glovebox: .*no os.system.*docker/,
      "import socket\nsocket.create_connection(('127.0.0.1', 80))": /glovebox: .*no network; .*docker/,
      "import urllib.request\nurllib.request.urlopen('http://127.0.0.1')": /glovebox: .*no network; .*docker/,
    }
    for (const [code, hint] of Object.entries(cases)) {
      const { stderr, exitCode } = await run("python", code)
      expect(exitCode).toBe(1)
      expect(stderr).toMatch(hint)
    }
    expect((await run("python", "raise ValueError('import numpy')")).stderr).not.toMatch(/glovebox/)
  })

  it("runs asyncio, which needs no sockets for itself", async () => {
    const code = `import asyncio
async def main():
    return await asyncio.gather(asyncio.sleep(0.01, "a"), asyncio.sleep(0.02, "b"))
print(asyncio.run(main()))`
    expect((await run("python", code)).stdout).toBe("['a', 'b']\n")
  })

  it("ends Python as Python ends: files are written, exit functions run, permissions are told", async () => {
    const code = `import atexit, os, stat
left_open = open("unclosed.txt", "w")
left_open.write("not flushed by the program")
atexit.register(print, "at exit")
open("tool.sh", "w").close()
os.chmod("tool.sh", 0o755)
print(stat.filemode(os.stat("tool.sh").st_mode), os.access("unclosed.txt", os.X_OK))`
    const { stdout, artifacts } = await run("python", code)
    expect(stdout).toBe("-rwxr-xr-x False\nat exit\n")
    const files = Object.fromEntries(artifacts.map((file) => [file.path, file]))
    expect(Buffer.from(files["unclosed.txt"]!.content).toString()).toBe("not flushed by the program")
    expect(files["tool.sh"]!.executable).toBe(true)
  })

  it("has functions that programs import and cannot change", async () => {
    const add = pythonFunction({ source: `def add(a, b):\n    """Adds."""\n    return a + b` })
    await using executor = new WasmCodeExecutor({ functions: [add], functionsModule: "sums", pool: false })
    expect(executor.describeFunctions()).toContain("from sums import add")
    const code = `from sums import add
import sums
print(add(1, 2))
for attempt in (lambda: open(sums.__file__, "a"), lambda: __import__("os").remove(sums.__file__)):
    try: attempt(); print("CHANGED")
    except OSError as error: print(error.strerror)`
    expect((await run("python", code, executor)).stdout).toBe(
      "3\nRead-only file system\nRead-only file system\n",
    )
  })

  it("takes a folder's files in, and brings changed ones out", async () => {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-wasm-"))
    try {
      await writeFile(join(folder, "in.txt"), "from the host")
      await using executor = new WasmCodeExecutor({ workDir: folder, pool: false })
      await run("python", `open("out.txt", "w").write(open("in.txt").read().upper())`, executor)
      expect(await readFile(join(folder, "out.txt"), "utf8")).toBe("FROM THE HOST")
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
