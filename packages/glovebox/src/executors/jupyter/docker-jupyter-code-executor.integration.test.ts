import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { afterAll, describe, expect, it } from "vitest"
import { GloveboxError } from "../../core/index.ts"
import { pythonFunction } from "../functions/python-function.ts"
import type { CodeResult } from "../index.ts"
import type { DockerJupyterCodeExecutor } from "./docker-jupyter-code-executor.ts"
import { HAS_NO_DOCKER, bash, cell, jupyter } from "./jupyter-subject.test-kit.ts"

const execute = promisify(execFile)

describe.skipIf(HAS_NO_DOCKER)("DockerJupyterCodeExecutor", () => {
  const shared = jupyter({ timeout: "20s" })
  afterAll(async () => shared.stop())
  const run = async (code: string): Promise<CodeResult> => cell(shared, code)

  describe("state", () => {
    it("variables, imports, functions and the folder are there in the next block and the next call", async () => {
      const first = await shared.executeCodeBlocks([
        { language: "python", code: "import math as m\nx = 40\ndef add(a, b): return a + b" },
        { language: "python", code: "x += 1\nimport os\nos.makedirs('sub', exist_ok=True); os.chdir('sub')" },
      ])
      expect(first.exitCode).toBe(0)
      const { stdout, stateLost } = await run("print(add(x, 1), m.floor(2.5), os.getcwd())\nos.chdir('..')")
      expect([stdout, stateLost]).toEqual(["42 2 /workspace/sub\n", false])
    })

    it("the value of the last expression is part of the output, as text; a semicolon keeps it back", async () => {
      expect((await run("print('a')\n6 * 7")).output).toBe("a\n42\n")
      expect((await run("_ + 1")).stdout).toBe("43\n")
      expect((await run("6 * 7;")).output).toBe("")
    })

    it("a cell that awaits runs", async () => {
      expect((await run("import asyncio\nawait asyncio.sleep(0.01)\nprint('awaited')")).stdout).toBe(
        "awaited\n",
      )
    })

    it("lines with % and ! run, with stdout and stderr apart", async () => {
      const { stdout, stderr, exitCode } = await run(`!echo out; echo err >&2
words = !echo one; echo two
print(words)
%cd -q /tmp
!pwd
%cd -q /workspace
!false
print(_exit_code)`)
      expect([stdout, stderr, exitCode]).toEqual(["out\n['one', 'two']\n/tmp\n1\n", "err\n", 0])
      expect((await run("%%bash\necho from bash")).stdout).toBe("from bash\n")
    })

    it("bash and sh run beside the kernel, in the same files, and leave its variables alone", async () => {
      await run("kept = 'kept'\nopen('from-python', 'w').write('p');")
      const { stdout } = await shared.executeCodeBlocks([
        bash("cat from-python; echo b > from-bash; sleep 1000 &"),
        { language: "python", code: "print(open('from-bash').read(), kept)" },
      ])
      expect(stdout).toBe("pb\n kept\n")
    })

    it("restart gives a kernel without variables and files", async () => {
      await using executor = jupyter()
      await cell(executor, "x = 1\nopen('file', 'w').close()")
      await executor.restart()
      const { stdout, stateLost } = await cell(
        executor,
        "import os\nprint('x' in globals(), os.listdir('.'))",
      )
      expect(stdout).toMatch(/^False \['tmp_code_\w+\.py'\]\n$/)
      // It was asked for, so nothing was lost.
      expect(stateLost).toBe(false)
    })

    it("several kernels live side by side, each with its own variables, and run at the same time", async () => {
      const executors = [jupyter(), jupyter(), jupyter()]
      try {
        await Promise.all(executors.map(async (executor, index) => cell(executor, `x = ${index}`)))
        const results = await Promise.all(executors.map(async (executor) => cell(executor, "print(x)")))
        expect(results.map(({ stdout }) => stdout)).toEqual(["0\n", "1\n", "2\n"])
        expect(new Set(results.map(({ sandbox }) => sandbox.containerId)).size).toBe(3)
      } finally {
        await Promise.all(executors.map(async (executor) => executor.stop()))
      }
    })

    it("functions of the host can be imported", async () => {
      const double = pythonFunction({ source: "def double(x: int) -> int:\n    return 2 * x" })
      await using executor = jupyter({ functions: [double] })
      expect((await cell(executor, "from functions import double\ndouble(21)")).stdout).toBe("42\n")
      expect(executor.describeFunctions()).toContain("def double(x: int) -> int")
    })
  })

  describe("errors", () => {
    it("a traceback is as Python writes it, without colours, and what was printed before is kept", async () => {
      await run("def divide(x):\n    return 1 / x")
      const { stdout, stderr, exitCode, codeFile } = await run("print('before')\ndivide(0)\nprint('after')")
      expect([stdout, exitCode]).toEqual(["before\n", 1])
      expect(stderr).toMatch(
        /^Traceback \(most recent call last\):\n {2}File "\/workspace\/tmp_code_\w+\.py", line 2, in <module>\n {4}divide\(0\)\n {2}File "\/workspace\/tmp_code_\w+\.py", line 2, in divide\n {4}return 1 \/ x\n[ ~^]+\nZeroDivisionError: division by zero\n$/,
      )
      expect(stderr).toContain(codeFile)
      expect(stderr).not.toContain("\u001B")
      expect(stderr).not.toMatch(/ipykernel|IPython|site-packages|dist-packages/)
    })

    it("a syntax error shows its line, an unknown magic its name", async () => {
      const wrong = await run("x = = 1")
      expect([wrong.exitCode, wrong.stdout]).toEqual([1, ""])
      expect(wrong.stderr).toMatch(/line 1\n {4}x = = 1\n {8}\^\nSyntaxError: invalid syntax\n$/)
      const unknown = await run("%no_such_magic")
      expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining("%no_such_magic")])
    })

    it("sys.exit and exit end the cell with their code, and not the kernel", async () => {
      await run("kept = 1")
      for (const [code, expected] of [
        ["import sys; sys.exit(3)", 3],
        ["exit(4)", 4],
        ["quit()", 0],
        ["raise SystemExit", 0],
      ] as const) {
        const { exitCode, output, stateLost } = await run(code)
        expect([code, exitCode, output, stateLost]).toEqual([code, expected, "", false])
      }
      const { exitCode, stderr } = await run("raise SystemExit('the reason')")
      expect([exitCode, stderr]).toEqual([1, "the reason\n"])
      expect((await run("print(kept)")).stdout).toBe("1\n")
    })

    it("input fails at once with a clear error, and so does getpass", async () => {
      for (const code of ["input('name? ')", "import getpass\ngetpass.getpass()"]) {
        const { exitCode, stderr, stateLost } = await run(code)
        expect([exitCode, stateLost]).toEqual([1, false])
        expect(stderr).toMatch(/EOFError: There is nobody to ask: input\(\) and getpass\(\) do not work/)
      }
    })
  })

  describe("the deadline", () => {
    it("is for all of the cell, however much it prints; an interrupt is enough, and variables are kept", async () => {
      await using executor = jupyter({ timeout: "1s" })
      await cell(executor, "x = 1")
      const result = await cell(
        executor,
        "import time\nwhile True:\n    x += 1\n    print(x)\n    time.sleep(0.05)",
      )
      expect(result).toMatchObject({ termination: "timeout", exitCode: 124, stateLost: false })
      expect(result.stdout).toMatch(/^2\n3\n/)
      expect(result.stderr).toMatch(/KeyboardInterrupt\n$/)
      expect((await cell(executor, "print(x > 5)")).stdout).toBe("True\n")
    })

    it("ends code that ignores the interrupt with its kernel, and says so; the next call has a new one", async () => {
      await using executor = jupyter({ timeout: "1s" })
      await cell(executor, "x = 1\nopen('file', 'w').close()")
      const deaf = await cell(
        executor,
        `import time
print("so far", end="")
while True:
    try:
        while True: time.sleep(1)
    except BaseException: pass`,
      )
      expect(deaf).toMatchObject({
        termination: "timeout",
        exitCode: 124,
        stdout: "so far",
        stateLost: true,
        stateLostBecause: "The kernel was killed, because its code did not end when it was interrupted.",
      })
      const next = await cell(executor, "import os\nprint('x' in globals(), os.path.exists('file'))")
      expect(next).toMatchObject({ stdout: "False True\n", stateLost: false })
      expect(next.sandbox.containerId).toBe(deaf.sandbox.containerId)
    })

    it("ends bash with its children, and the kernel lives on", async () => {
      await using executor = jupyter({ timeout: "1s" })
      await cell(executor, "x = 1")
      const result = await executor.executeCodeBlocks([bash("trap '' TERM INT; echo up; sleep 1000")])
      expect(result).toMatchObject({ termination: "timeout", stdout: "up\n", stateLost: false })
      expect((await cell(executor, "print(x)")).stdout).toBe("1\n")
    })

    it("a command of a cell ends with it", async () => {
      await using executor = jupyter({ timeout: "1s" })
      const result = await cell(executor, "!sleep 1000")
      expect(result).toMatchObject({ termination: "timeout", stateLost: false })
      const { stdout } = await executor.executeCodeBlocks([bash("ps -o args | grep -c '[s]leep 1000'")])
      expect(stdout).toBe("0\n")
    })
  })

  describe("cancelling", () => {
    const cancel = async (executor: DockerJupyterCodeExecutor, code: string): Promise<void> => {
      const controller = new AbortController()
      const reason = new Error("enough")
      const call = executor.executeCodeBlocks([{ language: "python", code }], {
        signal: controller.signal,
        onOutput: () => controller.abort(reason),
      })
      await expect(call).rejects.toBe(reason)
    }

    it("interrupts, and the next call has the variables", async () => {
      await run("x = 'still here'")
      await cancel(shared, "import time\nprint('on')\ntime.sleep(1000)")
      expect(await run("print(x)")).toMatchObject({ stdout: "still here\n", stateLost: false })
    })

    it("of code that ignores the interrupt ends the kernel, which the next result tells", async () => {
      await using executor = jupyter()
      await cancel(
        executor,
        "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('on')\nwhile True: time.sleep(1)",
      )
      const next = await cell(executor, "print('works')")
      expect(next).toMatchObject({ stdout: "works\n", stateLost: true })
      expect(next.stateLostBecause).toMatch(/did not end when it was interrupted/)
    })
  })

  describe("the end of a kernel", () => {
    it("for want of memory is told, and the next call has a new one", async () => {
      await using executor = jupyter({ memory: "256MiB" })
      const result = await cell(executor, "print('before')\nhoard = bytearray(600_000_000)")
      expect(result).toMatchObject({
        termination: "oom",
        exitCode: 137,
        stdout: "before\n",
        stateLost: true,
        stateLostBecause: "The kernel ran out of memory.",
      })
      expect((await cell(executor, "print('works')")).stdout).toBe("works\n")
    })

    it("when files fill the memory, the container is replaced", async () => {
      await using executor = jupyter({ memory: "256MiB", policy: { limits: { workspace: "1GiB" } } })
      await cell(executor, "x = 1")
      // Several: the first may be killed just before the kernel, whose room would be enough for the next.
      const result = await executor.executeCodeBlocks([
        bash("for n in 1 2 3 4; do cat /dev/zero > f$n; done"),
      ])
      expect(result).toMatchObject({ termination: "oom", stateLost: true })
      const next = await cell(executor, "import os\nprint(os.path.exists('f1'))")
      expect(next).toMatchObject({ stdout: "False\n", stateLost: true })
      expect(next.stateLostBecause).toMatch(/files/)
      expect(next.sandbox.containerId).not.toBe(result.sandbox.containerId)
    })

    it("by its own doing is told, with its code or signal", async () => {
      for (const [code, expected] of [
        ["print('x')\nimport os; os._exit(5)", { exitCode: 5, termination: "exit", stdout: "x\n" }],
        [
          "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
          { exitCode: 139, termination: "signal", stdout: "" },
        ],
      ] as const) {
        expect(await run(code)).toMatchObject({
          ...expected,
          stateLost: true,
          stateLostBecause: expect.stringMatching(
            /^The kernel('s process ended with exit code 5| was ended by SIGSEGV)\.$/,
          ),
        })
      }
      expect(await run("print('works')")).toMatchObject({ stdout: "works\n", stateLost: false })
    })

    it("by a program beside it is told too", async () => {
      await run("x = 1")
      const result = await shared.executeCodeBlocks([bash("kill -9 -1")])
      expect(result).toMatchObject({
        stateLost: true,
        stateLostBecause: "The kernel ended while another program ran.",
      })
      expect((await run("print('x' in globals())")).stdout).toBe("False\n")
    })

    it("comes after its time without a call; the next call begins anew and says so", async () => {
      await using executor = jupyter({ idleTimeout: "500ms" })
      const removed = new Promise((resolve) => executor.on("container-removed", resolve))
      const first = await cell(executor, "x = 1")
      await removed
      const next = await cell(executor, "print('x' in globals())")
      expect(next).toMatchObject({ stdout: "False\n", stateLost: true })
      expect(next.stateLostBecause).toMatch(/^The kernel had not been used for 500ms \(idleTimeout\)/)
      expect(next.sandbox.containerId).not.toBe(first.sandbox.containerId)
    })
  })

  describe("the wall", () => {
    it("no network, no port, no token: the container is the Docker executor's", async () => {
      const { stdout, sandbox } = await run(`import os
print([name for name in os.environ if any(word in name.upper() for word in ("TOKEN", "KEY", "JPY", "JUPYTER"))])
# The kernel's own loop uses one address, which nothing outside the container can reach.
own = "0100007F:"
print([line for name in ("tcp", "tcp6", "udp") for line in list(open("/proc/net/" + name))[1:] if not line.split()[1].startswith(own)])
print(os.listdir("/sys/class/net"))`)
      expect(stdout).toBe("[]\n[]\n['lo']\n")
      expect(sandbox).toMatchObject({
        kind: "jupyter",
        isolation: "session",
        effective: {
          network: "none",
          readOnlyRoot: true,
          user: "65532:65532",
          capabilities: [],
          noNewPrivileges: true,
        },
      })
      const { stdout: inspected } = await execute("docker", ["inspect", sandbox.containerId ?? ""])
      const [{ HostConfig, NetworkSettings }] = JSON.parse(inspected) as [
        { HostConfig: Record<string, unknown>; NetworkSettings: { Ports: object } },
      ]
      expect(HostConfig).toMatchObject({ NetworkMode: "none", PortBindings: null, Binds: null })
      expect(NetworkSettings.Ports).toEqual({})
    })

    it("an image without ipykernel is refused, saying what to install", async () => {
      await using executor = jupyter({ image: "glovebox/sandbox:py3" })
      const error: unknown = await executor.start().catch((reason: unknown) => reason)
      expect(GloveboxError.is(error, "IMAGE_UNAVAILABLE")).toBe(true)
      expect(String(error)).toMatch(
        /glovebox\/sandbox:py3 cannot run a Jupyter kernel: .*zmq.*pip install ipykernel/,
      )
    })

    it("memory too small for a kernel is an error that says so", async () => {
      await using executor = jupyter({ memory: "24MiB" })
      const error: unknown = await executor.start().catch((reason: unknown) => reason)
      expect(GloveboxError.is(error)).toBe(true)
      expect(String(error)).toMatch(/memory/)
    })
  })
})
