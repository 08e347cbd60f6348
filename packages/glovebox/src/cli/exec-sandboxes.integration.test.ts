import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { HAS_NO_DOCKER } from "../executors/docker/docker-subject.test-kit.ts"
import { NO_ENGINE, buildCommand, glovebox, useOwnFolder } from "./glovebox.test-kit.ts"

let folder = ""
let leave = async (): Promise<void> => {}

beforeAll(async () => {
  await buildCommand()
  leave = await useOwnFolder()
  folder = await mkdtemp(join(tmpdir(), "glovebox-sandboxes-"))
})

afterAll(async () => {
  await leave()
  await rm(folder, { recursive: true, force: true })
})

const PRINT = "import sys\nprint(6 * 7)\nprint('err', file=sys.stderr)\nsys.exit(3)"
const exec = ["exec", "--lang", "python"]

describe("glovebox exec --sandbox", () => {
  it.each(HAS_NO_DOCKER ? ["wasm", "bubblewrap"] : ["wasm", "bubblewrap", "jupyter"])(
    "%s runs code and exits as it does",
    async (sandbox) => {
      expect(await glovebox([...exec, "--sandbox", sandbox], PRINT)).toEqual({
        code: 3,
        stdout: "42\n",
        stderr: "err\n",
      })
    },
  )

  it("--code is code itself: Python, or what --lang says", async () => {
    const run = ["exec", "--sandbox", "wasm"]
    expect(await glovebox([...run, "-c", "print(6 * 7)"])).toEqual({ code: 0, stdout: "42\n", stderr: "" })
    const javascript = await glovebox([...run, "-l", "js", "-c", "console.log([6, 7].length)"])
    expect(javascript).toEqual({ code: 0, stdout: "2\n", stderr: "" })
  })

  it("auto takes the embedded sandbox where no engine answers, and says so on stderr", async () => {
    const { code, stdout, stderr } = await glovebox(exec, "print(6 * 7)", NO_ENGINE)
    expect([code, stdout]).toEqual([0, "42\n"])
    expect(stderr).toMatch(
      /^glovebox: no Docker engine answers at unix:\/\/\/nonexistent.*so the code runs in wasm.*\n$/,
    )
  })

  it("--json tells which it was, and why", async () => {
    const { stdout } = await glovebox([...exec, "--json"], "print(6 * 7)", NO_ENGINE)
    expect(JSON.parse(stdout)).toMatchObject({
      stdout: "42\n",
      sandbox: { kind: "wasm" },
      chosen: {
        sandbox: "wasm",
        because: expect.stringContaining("no Docker engine answers") as string,
        tried: [{ sandbox: "docker" }],
      },
    })
  })

  it("auto does not take what the policy forbids, nor anything but Docker where an engine is named", async () => {
    const policy = join(folder, "strict.yaml")
    await writeFile(policy, "tiers: [docker]\n")
    const forbidden = await glovebox([...exec, "--policy", policy], "print(1)", NO_ENGINE)
    expect([forbidden.code, forbidden.stdout]).toEqual([1, ""])
    expect(forbidden.stderr).toContain("wasm: the policy names only docker (tiers)")
    const named = await glovebox([...exec, "--docker-host", "unix:///nonexistent/docker.sock"], "print(1)")
    expect([named.code, named.stdout]).toEqual([1, ""])
    expect(named.stderr).toContain("No Docker engine answers")
  })

  it("local runs on the host when told twice, warns, and takes away the file of the code alone", async () => {
    const workDir = join(folder, "work")
    const args = ["--sandbox", "local", "--dangerously-run-on-host", "--work-dir", workDir]
    const { code, stdout, stderr } = await glovebox(
      [...exec, ...args],
      "open('made.txt', 'w').write('x')\nprint(1)",
    )
    expect([code, stdout]).toEqual([0, "1\n"])
    expect(stderr).toContain("runs code on this machine with all rights of this user")
    expect(await readdir(workDir)).toEqual(["made.txt"])
    expect(await readFile(join(workDir, "made.txt"), "utf8")).toBe("x")
  })

  it("says which sandbox has a language that this one has not", async () => {
    const { code, stderr } = await glovebox(["exec", "--lang", "sh", "--sandbox", "wasm"], "echo 1")
    expect(code).toBe(1)
    expect(stderr).toMatch(/embedded sandbox has no sh.*docker and bubblewrap/)
  })
})
