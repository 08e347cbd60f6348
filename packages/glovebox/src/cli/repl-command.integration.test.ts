import { existsSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { HAS_NO_DOCKER } from "../executors/docker/docker-subject.test-kit.ts"
import { NO_ENGINE, buildCommand, glovebox, useOwnFolder } from "./glovebox.test-kit.ts"
import { Terminal } from "./terminal.test-kit.ts"

let folder = ""
let leave = async (): Promise<void> => {}

beforeAll(async () => {
  await buildCommand()
  leave = await useOwnFolder()
  folder = await mkdtemp(join(tmpdir(), "glovebox-repl-test-"))
})

afterAll(async () => {
  await leave()
  await rm(folder, { recursive: true, force: true })
})

const CELLS = `x = 20

def add(y):
    """Adds.

    To x."""

    return x + y

add(22)
print("grüße 🧤")
for n in range(2):
    print(n)
x
`

const WASM = ["repl", "--sandbox", "wasm"]

describe.each(HAS_NO_DOCKER ? ["wasm"] : ["wasm", "jupyter"])("glovebox repl --sandbox %s", (sandbox) => {
  const repl = ["repl", "--sandbox", sandbox]

  it("runs what is piped in cell by cell, keeps variables, and shows values; no prompts", async () => {
    expect(await glovebox(repl, CELLS)).toEqual({
      code: 0,
      stdout: "42\ngrüße 🧤\n0\n1\n20\n",
      stderr: "",
    })
  })

  it("ends a cell at its time, says what became of the variables, and goes on", async () => {
    const { code, stdout, stderr } = await glovebox(
      [...repl, "--timeout", "2s"],
      "x = 7\nwhile True: pass\nprint('x' in globals())",
    )
    expect([code, stderr]).toEqual([1, expect.stringContaining("ran longer than 2s")])
    // A kernel is interrupted, and keeps what it had.
    expect(stdout).toBe(sandbox === "jupyter" ? "True\n" : "False\n")
    expect(stderr.includes("variables")).toBe(sandbox === "wasm")
  })

  it("talks to a person: prompts, blocks, Ctrl-C in a line and in a cell, Ctrl-D", async () => {
    const terminal = new Terminal(repl)
    await terminal.until(">>> ")
    await terminal.type("x = 5\r", ">>> ")
    await terminal.type("for n in range(3):\r", "... ")
    await terminal.type("    print(n, end='')\r", "... ")
    await terminal.type("\r", "012\r\n")
    await terminal.until(">>> ")
    await terminal.type("if nonsense:\r", "... ")
    await terminal.type("\u0003", ">>> ")
    await terminal.type("while True: print('on', flush=True)\r", "on\r\n")
    await terminal.type("\u0003", "interrupted")
    await terminal.until(">>> ")
    await terminal.type("print('x' in globals())\r", sandbox === "jupyter" ? "True\r\n" : "False\r\n")
    await terminal.until(">>> ")
    terminal.write("\u0004")
    expect(await terminal.code).toBe(0)
  })
})

describe("glovebox repl", () => {
  it("goes on after a cell that fails, names its line, and exits with 1", async () => {
    const { code, stdout, stderr } = await glovebox(WASM, "x = 1\nx / 0\nno python\nx + 1")
    expect([code, stdout]).toEqual([1, "2\n"])
    expect(stderr).toMatch(
      /cell-2\.py", line 1[^]*x \/ 0\n[^]*ZeroDivisionError[^]*cell-3\.py[^]*SyntaxError/,
    )
    // What runs the cell is nobody's business.
    expect(stderr).not.toContain("__glovebox_cell__")
  })

  it("knows its commands", async () => {
    const { code, stdout, stderr } = await glovebox(
      WASM,
      "x = 1\n:help\n:frobnicate\n:restart\n'x' in globals()\nexit()\nprint('never')",
    )
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Python, cell by cell[^]*:restart[^]*\nFalse\n$/)
    expect(stderr).toBe("glovebox: there is no :frobnicate; :help lists what there is\n")
  })

  it("keeps files in a folder where that is asked for", async () => {
    const workDir = join(folder, "work")
    const { code } = await glovebox(
      [...WASM, "--work-dir", workDir],
      "with open('a.txt', 'w') as file: _ = file.write('kept')",
    )
    expect([code, await readFile(join(workDir, "a.txt"), "utf8")]).toEqual([0, "kept"])
  })

  it.skipIf(HAS_NO_DOCKER)("saves what a cell shows, and says where", async () => {
    const code = "import base64\nfrom IPython.display import Image, display"
    const show = `display(Image(data=base64.b64decode("${PIXEL}"), format="png"))`
    const { stderr } = await glovebox(["repl", "--sandbox", "jupyter"], `${code}\n${show}\n`)
    const file = /^glovebox: saved (\S+\.png)\n/m.exec(stderr)?.[1] ?? ""
    expect(existsSync(file), stderr).toBe(true)
    expect((await readFile(file)).toString("base64")).toBe(PIXEL)
    await rm(join(file, ".."), { recursive: true })
  })

  it.skipIf(HAS_NO_DOCKER)(
    "takes a kernel where there is one, else the embedded sandbox, and says so",
    async () => {
      const kernel = await glovebox(["repl"], "get_ipython() is not None")
      expect(kernel).toEqual({ code: 0, stdout: "True\n", stderr: "" })
      const embedded = await glovebox(["repl"], "import sys; sys.platform", NO_ENGINE)
      expect([embedded.code, embedded.stdout]).toEqual([0, "'wasi'\n"])
      expect(embedded.stderr).toMatch(/^glovebox: no Docker engine answers .*; so this is wasm\n$/)
    },
  )

  it("takes what the policy allows", async () => {
    const policy = join(folder, "wasm.yaml")
    await writeFile(policy, "tiers: [wasm]\n")
    const { stdout, stderr } = await glovebox(["repl", "--policy", policy], "1 + 1")
    expect([stdout, stderr]).toEqual([
      "2\n",
      "glovebox: the policy names only wasm (tiers); so this is wasm\n",
    ])
  })

  it("exits with 2 for a sandbox that keeps no variables", async () => {
    expect(await glovebox(["repl", "--sandbox", "docker"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Allowed choices are jupyter, wasm") as string,
    })
  })
})

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
