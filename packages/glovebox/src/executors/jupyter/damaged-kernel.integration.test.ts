import { afterAll, describe, expect, it } from "vitest"
import type { CodeResult } from "../index.ts"
import { HAS_NO_DOCKER, cell, jupyter } from "./jupyter-subject.test-kit.ts"

describe.skipIf(HAS_NO_DOCKER)("a kernel that code has damaged", () => {
  const shared = jupyter({ timeout: "20s" })
  afterAll(async () => shared.stop())
  const run = async (code: string): Promise<CodeResult> => cell(shared, code)
  const works = async (): Promise<void> => {
    const code = "import sys\nprint('out', kept); print('err', file=sys.stderr)"
    expect(await run(code)).toMatchObject({ stdout: "out 1\n", stderr: "err\n", exitCode: 0 })
  }

  it.each([
    ["closed by number", "import os, sys\nprint('a')\nos.close(1)\nsys.stderr.close()"],
    ["closed", "import sys\nprint('a')\nsys.stdout.close()"],
    ["redirected", "import os\nprint('a')\nos.dup2(os.open('/dev/null', os.O_WRONLY), 1)\nprint('lost')"],
    ["None", "import sys\nprint('a')\nsys.stdout = sys.stderr = None"],
    [
      "without flush",
      "import sys\nclass Tee:\n    def write(self, text): sys.__stdout__.write(text)\nsys.stdout = Tee()\nprint('a')",
    ],
  ])("a stream that is %s ends its cell as any, and is there again in the next", async (_how, code) => {
    await run("kept = 1")
    expect(await run(code)).toMatchObject({
      stdout: "a\n",
      exitCode: 0,
      stateLost: false,
      termination: "exit",
    })
    await works()
  })

  it.each([
    [
      "that cannot be told",
      "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
      /E: <exception str/,
    ],
    ["with half a character", "raise ValueError('\\ud800')", /ValueError: \\ud800\n$/],
    [
      "after its stream was closed",
      "import sys\nsys.stderr.close()\n1 / 0",
      /ZeroDivisionError: division by zero\n$/,
    ],
    ["of IPython's own", "get_ipython().run_cell_async = None", /TypeError/],
  ])("an error %s ends its cell at once", async (_which, code, told) => {
    await run("kept = 1")
    const result = await cell(shared, code)
    // The last one shows in the cell after it.
    const { exitCode, stderr, stateLost, termination } = code.startsWith("get_ipython")
      ? await run("1")
      : result
    expect([exitCode, stateLost, termination]).toEqual([1, false, "exit"])
    expect(stderr).toMatch(told)
    if (code.startsWith("get_ipython")) await shared.restart()
    else await works()
  })

  it("what is shown as half a character is shown as its number", async () => {
    const code = "class A:\n    def __repr__(self): return '\\ud800x'\nA()"
    expect(await run(code)).toMatchObject({ stdout: "\\ud800x\n", exitCode: 0 })
  })

  it("a loop that was stopped runs on", async () => {
    const result = await shared.executeCodeBlocks([
      { language: "python", code: "kept = 1\nimport asyncio\nasyncio.get_event_loop().stop()" },
      { language: "python", code: "print('second', kept)" },
    ])
    expect(result).toMatchObject({ stdout: "second 1\n", exitCode: 0, stateLost: false })
  })

  it("a cell that the kernel did not live to begin is no success", async () => {
    await using executor = jupyter()
    await cell(executor, "import os\nget_ipython().kernel.begin = lambda: os._exit(0)")
    const result = await cell(executor, "print('never')")
    expect(result).toMatchObject({ exitCode: 1, stdout: "", stateLost: true })
    expect(result.stderr).toMatch(/ended before this cell began.* Run the cell again/)
    // One that began and ended its kernel is what it says.
    expect(await cell(executor, "import os\nos._exit(0)")).toMatchObject({ exitCode: 0, stateLost: true })
  })

  it("exit has its code also after %reset", async () => {
    await run("%reset -f")
    expect((await run("exit(3)")).exitCode).toBe(3)
  })

  describe("an interrupt", () => {
    it.each([
      ["that awaits", "await asyncio.sleep(1000)"],
      ["that has awaited", "await asyncio.sleep(0)\nwhile True: pass"],
    ])("ends a cell %s, and variables are kept", async (_which, code) => {
      await using executor = jupyter({ timeout: "1s" })
      await cell(executor, "import asyncio\nkept = 1")
      const result = await cell(executor, code)
      expect(result).toMatchObject({ termination: "timeout", stateLost: false })
      expect(result.stderr).toMatch(/KeyboardInterrupt\n$/)
      expect((await cell(executor, "print(kept)")).stdout).toBe("1\n")
    })
  })
})
