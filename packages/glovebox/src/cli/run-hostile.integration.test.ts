import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, readFile, readdir } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { type Ended, bin, buildCommand, ended, glovebox } from "./glovebox.test-kit.ts"
import { JobBench, runs, says } from "./job.test-kit.ts"
import { Terminal } from "./terminal.test-kit.ts"

beforeAll(async () => {
  await buildCommand()
})

const TOOLS = ["--model", "openai/gpt-4o", "--sandbox", "wasm"]
const EVIL = "\u001B]52;c;ZXZpbA==\u0007\u001B[2J\u009B31m\u2028"

async function run(bench: JobBench, args: readonly string[]): Promise<Ended> {
  return glovebox(["run", ...TOOLS, ...args], "", bench.env, bench.folder)
}

describe("glovebox run, with a model that does what it likes", () => {
  it("counts each run of code, also of many that are asked for at once", async () => {
    const calls = ["a", "b", "c", "d"].map((id) => ({
      id,
      name: "execute_code",
      arguments: JSON.stringify({ language: "python", code: `print("ran " + "${id}")` }),
    }))
    await using bench = await JobBench.open({ type: "answer", calls }, says("Enough."))
    const { code, stdout, stderr } = await run(bench, ["--max-turns", "2", "Go."])
    expect([code, stdout]).toEqual([3, "Enough.\n"])
    expect(stderr).toContain("2 runs of code in wasm")
    expect(stderr).toContain("--max-turns 2 ended it; a larger number lets code run more often")
  })

  it("says so when there is no answer, and prints none", async () => {
    await using bench = await JobBench.open(says(""))
    const { code, stdout, stderr } = await run(bench, ["Go."])
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr).toContain("the model came to no answer")
  })

  it("shows its words harmless on a terminal that can little, and to a program as they are", async () => {
    await using bench = await JobBench.open(says(`Here: ${EVIL}`), says(`Here: ${EVIL}.`))
    const terminal = new Terminal(["run", ...TOOLS, "Go."], {
      env: { ...bench.env, TERM: "dumb" },
      cwd: bench.folder,
    })
    expect(await terminal.rest()).toContain("Here: ␛]52;c;ZXZpbA==␇␛[2J<U+009B>31m")
    expect((await run(bench, ["Go."])).stdout).toBe(`Here: ${EVIL}.\n`)
  })

  it("prints lines of JSON that every reader takes for lines", async () => {
    await using bench = await JobBench.open(says(`Here: ${EVIL}.`))
    const { stdout } = await run(bench, ["--json", "Go."])
    expect(stdout).not.toMatch(/[\u007F-\u009F\u2028]/)
    const lines = stdout.trimEnd().split(/[\n\r\u0085\u2028\u2029]/)
    const last = JSON.parse(lines.at(-1) ?? "") as { readonly answer: string }
    expect(last.answer).toBe(`Here: ${EVIL}.`)
  })
})

describe("glovebox run, with files that do not come out", () => {
  it("says that not all files were kept", async () => {
    await using bench = await JobBench.open(
      runs("for n in range(5000): open(f'f{n}', 'w').close()"),
      says("Done."),
    )
    const { stderr } = await run(bench, ["--out", "results", "Go."])
    expect(stderr).toContain("not all files that the code made were kept")
    expect(stderr.split("\n").filter((line) => line.includes("glovebox: wrote")).length).toBeLessThan(30)
  })

  it("brings out the others where one cannot be written, and exits with 1", async () => {
    await using bench = await JobBench.open(
      runs("open('a' * 255, 'w').write('x'); open('b.txt', 'w').write('b')"),
      says("Done."),
    )
    await bench.write(join("results", "a".repeat(255)), "mine")
    const { code, stdout, stderr } = await run(bench, ["--out", "results", "Go."])
    expect([code, stdout]).toEqual([1, "Done.\n"])
    expect(stderr).toContain("could not be written: ENAMETOOLONG")
    expect(await readdir(join(bench.folder, "results"))).toContain("b.txt")
  })

  it("asks no model when there is no place for them", async () => {
    await using bench = await JobBench.open(says("Done."))
    const { code, stderr } = await run(bench, ["--out", "/proc/none", "Go."])
    expect([code, bench.server.requests.length]).toEqual([2, 0])
    expect(stderr).toContain("--out /proc/none cannot be used: ENOENT")
  })
})

describe("glovebox run, that cannot go on", () => {
  it("says in a line what the system does not let it do", async () => {
    await using bench = await JobBench.open()
    const { code, stderr } = await glovebox(
      ["run", ...TOOLS, "Go."],
      "",
      { ...bench.env, TMPDIR: "/nonexistent" },
      bench.folder,
    )
    expect(code).toBe(1)
    expect(stderr).toMatch(/^glovebox: the model .*\nglovebox: ENOENT: .*\/nonexistent.*\n$/)
  })

  it("says when its output cannot be written", async () => {
    await using bench = await JobBench.open(says("Hello."))
    const command = `'${process.execPath}' '${bin}' run ${TOOLS.join(" ")} Go. > /dev/full`
    const child = spawn("sh", ["-c", command], { env: { ...process.env, ...bench.env }, cwd: bench.folder })
    expect(await ended(child)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the output cannot be written: ENOSPC.*\n$/) as string,
    })
  })

  it("ends at a signal while it waits for a pipe that nobody writes to", async () => {
    await using bench = await JobBench.open()
    const pipe = join(bench.folder, "glovebox.config.yaml")
    await promisify(execFile)("mkfifo", [pipe])
    const child = spawn(process.execPath, [bin, "run", ...TOOLS, "--config", pipe, "Go."], {
      env: { ...process.env, ...bench.env },
      cwd: bench.folder,
    })
    await vi.waitFor(async () => expect(await isWatching(child.pid)).toBe(true), { timeout: 30_000 })
    child.kill("SIGTERM")
    expect(await once(child, "close")).toEqual([null, "SIGTERM"])
  })

  it("leaves no copy of a file behind when it is left in a hurry", async () => {
    await using bench = await JobBench.open(
      runs("import time; print('rea' + 'dy', flush=True)\nwhile True: time.sleep(1)"),
    )
    const file = await bench.write("secret.txt", "secret")
    const temporary = join(bench.folder, "tmp")
    await mkdir(temporary)
    const child = spawn(process.execPath, [bin, "run", ...TOOLS, "--file", file, "Go."], {
      env: { ...process.env, ...bench.env, TMPDIR: temporary },
      cwd: bench.folder,
    })
    for await (const chunk of child.stderr) if (String(chunk).includes("ready")) break
    expect(await readdir(temporary)).toHaveLength(1)
    child.kill("SIGINT")
    child.kill("SIGTERM")
    await once(child, "close")
    expect(await readdir(temporary)).toEqual([])
  })
})

/** Whether it has a listener for the end of its terminal, which Node itself has not. */
async function isWatching(pid: number | undefined): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, "utf8")
  return (Number.parseInt(/^SigCgt:\s*(\w+)$/m.exec(status)?.[1]?.slice(-1) ?? "0", 16) & 1) === 1
}
