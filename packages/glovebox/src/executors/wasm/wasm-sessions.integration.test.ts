import { afterAll, describe, expect, it } from "vitest"
import type { CodeResult } from "../code-result.ts"
import { children } from "./wasm-children.test-kit.ts"
import { WasmCodeExecutor } from "./wasm-code-executor.ts"

const shared = new WasmCodeExecutor({ isolation: "session" })
afterAll(async () => shared.stop())

async function run(language: string, code: string, executor = shared): Promise<CodeResult> {
  return executor.executeCodeBlocks([{ language, code }])
}

/** The process of the one sandbox that this makes. */
async function processOf(executor: WasmCodeExecutor): Promise<number> {
  const others = new Set(await children())
  await executor.start()
  const [own] = (await children()).filter((pid) => !others.has(pid))
  return own ?? -1
}

describe("a session in the embedded sandbox", () => {
  it("says that all is lost when its process had to be ended", async () => {
    await using executor = new WasmCodeExecutor({ isolation: "session", timeout: "1s" })
    const pid = await processOf(executor)
    await run("python", "x = 1", executor)
    process.kill(pid, "SIGSTOP")
    const ended = await run("python", "print(x)", executor)
    expect([ended.termination, ended.stateLost, ended.stateLostBecause]).toEqual([
      "timeout",
      true,
      "The sandbox was ended, and with it its files and variables.",
    ])
    const next = await run("python", "print('x' in globals())", executor)
    expect([next.stdout, next.stateLost]).toEqual(["False\n", false])
  })

  it("says so with the next result when the call itself was rejected", async () => {
    await using executor = new WasmCodeExecutor({ isolation: "session" })
    const pid = await processOf(executor)
    const code = "x = 1\nprint('on', flush=True)\nwhile True: pass"
    const lost = executor.executeCodeBlocks([{ language: "python", code }], {
      onOutput: () => void process.kill(pid, "SIGKILL"),
    })
    await expect(lost).rejects.toMatchObject({ code: "SANDBOX_LOST" })
    const next = await run("python", "print('x' in globals())", executor)
    expect([next.stdout, next.stateLost]).toEqual(["False\n", true])
    expect((await run("python", "print(1)", executor)).stateLost).toBe(false)
  })

  it("is not broken by output that came while it was ended", async () => {
    await using executor = new WasmCodeExecutor({
      isolation: "session",
      policy: { limits: { output: 4096 } },
    })
    await run("python", "open('kept', 'w').close()", executor)
    const flood = "import os\nwhile True: os.write(1, b'x' * 131072)"
    for (let round = 0; round < 6; round += 1) {
      expect((await run("python", flood, executor)).termination).toBe("output-limit")
    }
    expect((await run("python", "import os; print(os.path.exists('kept'))", executor)).stdout).toBe("True\n")
  })

  it("ends a program at its deadline whatever paths it asks for", async () => {
    await using executor = new WasmCodeExecutor({ isolation: "session", timeout: "2s" })
    await run("python", "open('kept', 'w').close()", executor)
    const code = `import os\nwhile True:
  try: os.mkdir("/tmp" + "/" * 60000 + "a")
  except OSError: pass`
    const ended = await run("python", code, executor)
    expect([ended.termination, ended.stateLostBecause]).toEqual([
      "timeout",
      expect.stringMatching(/interpreter python3 was ended/),
    ])
    expect((await run("python", "import os; print(os.path.exists('kept'))", executor)).stdout).toBe("True\n")
  })

  it("does not let names and links fill the memory of its process", async () => {
    await using executor = new WasmCodeExecutor({
      isolation: "session",
      memory: "64MiB",
      policy: { limits: { workspace: "4MiB" } },
    })
    await run("python", "open('kept', 'w').close(); kept = 1", executor)
    const bombs = [
      "os.link('kept', '/tmp/%0250d' % n)",
      "os.symlink('x' * 4000 + str(n), '/tmp/%d' % n)",
      "os.mkdir('/tmp/' + './' * 4000 + 'abcdefghijklmnop%d' % n)",
    ]
    for (const bomb of bombs) {
      const code = `import os, itertools, shutil\nfor n in itertools.count(): ${bomb}`
      expect([bomb, (await run("python", code, executor)).termination]).toEqual([bomb, "disk-full"])
      const clean = `for name in os.listdir("/tmp"): (os.rmdir if os.path.isdir("/tmp/" + name) else os.remove)("/tmp/" + name)`
      expect((await run("python", clean, executor)).exitCode).toBe(0)
    }
    expect((await run("python", "print(os.path.exists('kept'), kept)", executor)).stdout).toBe("True 1\n")
  })

  it("runs on when its files have filled all there is", async () => {
    await using executor = new WasmCodeExecutor({
      isolation: "session",
      policy: { limits: { workspace: "4MiB" } },
    })
    const bomb = `import os
try:
    file = open("/tmp/bomb", "wb", 0)
    while True: file.write(bytes(4096))
except OSError: pass
os._exit(0)`
    await run("python", bomb, executor)
    expect((await run("javascript", "console.log(1)", executor)).stdout).toBe("1\n")
    expect((await run("python", "import os; os.remove('/tmp/bomb'); print('ok')", executor)).stdout).toBe(
      "ok\n",
    )
  })

  it("starts Python without a look at the program's files", async () => {
    await run(
      "python",
      "import os\nopen('kept', 'w').write('precious')\nos.symlink('/workspace/kept', '/tmp/warm.py')\nopen('json.py', 'w').write('boom(')\nos._exit(0)",
    )
    expect((await run("python", "print(open('kept').read())")).stdout).toBe("precious\n")
    expect((await run("python", "import os; os.remove('json.py'); os.remove('/tmp/warm.py')")).exitCode).toBe(
      0,
    )
  })

  it("keeps Python whatever a program does to it", async () => {
    await run("python", "kept = 1")
    const odd = [
      "import sys\nclass E:\n  def __str__(self): raise ValueError\nsys.exit(E())",
      "import sys\nsys.excepthook = lambda *all: 1 / 0\nraise ValueError",
      "import sys\nsys.settrace(lambda *all: 1 / 0)",
      "import sys\nsys.setprofile(lambda *all: 1 / 0)",
      "import sys\nclass X:\n  def __getattr__(self, name): raise ImportError(name)\nsys.modules['q'] = X()",
      "import sys\nsys.path = None",
      "import sys\nsys.argv = ()\nsys.path_importer_cache = None",
      "import builtins\nfor name in ('open', 'compile', 'isinstance', 'print', 'getattr'): setattr(builtins, name, None)",
      "import sys\nsys.stdout.close()\nsys.stderr = None",
      "import os\nfor fd in range(5): os.close(fd)",
      "class E(Exception):\n  def with_traceback(self, trace): raise KeyError\n  def __str__(self): raise KeyError\nraise E",
    ]
    for (const code of odd) {
      const { stateLost, exitCode } = await run("python", code)
      expect([code, stateLost, exitCode < 2]).toEqual([code, false, true])
      const restore = "import builtins, io, sys\nbuiltins.__dict__.update(open=io.open)"
      await run("python", restore)
    }
    const { stdout } = await run("python", "import sys; sys.stdout.write(str(kept))")
    expect(stdout).toBe("1")
  })

  it("leaves nothing of a program that ended itself to the next one", async () => {
    const left =
      "Promise.resolve().then(() => { console.log('LEFT'); globalThis.touched = require('fs').writeFileSync('left', '') })"
    expect((await run("javascript", `${left}; process.exit(4)`)).exitCode).toBe(4)
    const next = await run("javascript", "console.log('next', require('fs').existsSync('left'))")
    expect([next.stdout, next.stateLost]).toEqual(["next false\n", false])
    const endless = "const again = () => Promise.resolve().then(again); again(); process.exit(5)"
    expect((await run("javascript", endless)).exitCode).toBeGreaterThan(0)
    expect((await run("javascript", "console.log('on')")).stdout).toBe("on\n")
  })

  it("takes the types out of a source after one that was too deep for that", async () => {
    const deep = `const x: number = ${"(".repeat(100_000)}1${")".repeat(100_000)}`
    const refused = await run("typescript", deep)
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(/SyntaxError.*deeply/)])
    expect((await run("typescript", "const y: number = 2; console.log(y)")).stdout).toBe("2\n")
  })
})
