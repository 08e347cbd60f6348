import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, readFile, readdir } from "node:fs/promises"
import { join } from "node:path"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { type Ended, bin, buildCommand, ended, glovebox } from "./glovebox.test-kit.ts"
import { JobBench, NOTHING, runs, says } from "./job.test-kit.ts"
import { Terminal } from "./terminal.test-kit.ts"

beforeAll(async () => {
  await buildCommand()
})

// One that is known to call tools; the server is the test's.
const TOOLS = ["--model", "openai/gpt-4o", "--sandbox", "wasm"]
const FENCES = ["--model", "openai/some-model", "--sandbox", "wasm"]

async function run(bench: JobBench, args: readonly string[], input = ""): Promise<Ended> {
  return glovebox(["run", ...args], input, bench.env, bench.folder)
}

describe("glovebox run", () => {
  it("lets a model run code, and prints the answer alone where it can be piped on", async () => {
    await using bench = await JobBench.open(runs("print(6 * 7)"), says("It is ", "42."))
    const { code, stdout, stderr } = await run(bench, [...TOOLS, "What is six times seven?"])
    expect([code, stdout]).toEqual([0, "It is 42.\n"])
    expect(stderr).toMatch(/^glovebox: the model is openai\/gpt-4o at http:\/\/127\S+ \(by --model\)\n/)
    expect(stderr).toContain("print(6 * 7)")
    expect(stderr).toMatch(
      /glovebox: 1 run of code in wasm; policy [0-9a-f]{12}; recorded in \.glovebox\/audit\.jsonl\n$/,
    )
    expect(stderr).not.toContain("It is 42.")
    // What a program says is marked as such for the model.
    expect(bench.lastMessages().at(-1)).toMatchObject({
      role: "tool",
      content: expect.stringMatching(/untrusted[^]*\n42\n[^]*untrusted/) as string,
    })
  })

  it("shows a failure to the model, which corrects it", async () => {
    await using bench = await JobBench.open(runs("print(1 / 0)"), runs("print(1)"), says("1"))
    const { code, stdout, stderr } = await run(bench, [...TOOLS, "One, please."])
    expect([code, stdout]).toEqual([0, "1\n"])
    expect(stderr).toContain("ZeroDivisionError")
    expect(stderr).toContain("2 runs of code in wasm, 1 failed")
  })

  it("takes code between fences from a model without tools", async () => {
    await using bench = await JobBench.open(
      says("I run this:\n```python\nprint(6 * 7)\n```\n"),
      says("It is 42."),
    )
    const { code, stdout, stderr } = await run(bench, [...FENCES, "What is six times seven?"])
    expect([code, stdout]).toEqual([0, "It is 42.\n"])
    expect(stderr).toContain("without tools, so it writes code between fences")
    expect(JSON.stringify(bench.lastMessages())).toContain("42")
    expect(bench.server.lastBody()).not.toHaveProperty("tools")
  })

  it("gives the code files, and brings out what it made, beside what is there", async () => {
    await using bench = await JobBench.open(
      runs(
        [
          "text = open('in.txt').read()",
          "open('out.txt', 'w').write(text.upper())",
          "import os; os.makedirs('sub/.hidden'); open('sub/a.txt', 'w').write('a')",
          "open('sub/.hidden/hook', 'w').write('x')",
        ].join("\n"),
      ),
      says("Done."),
    )
    const out = join(bench.folder, "results")
    await mkdir(out)
    await bench.write("results/out.txt", "mine")
    const file = await bench.write("in.txt", "abc")
    const { code, stderr } = await run(bench, [...TOOLS, "--file", file, "--out", out, "Shout."])
    expect(code).toBe(0)
    expect((await readdir(out, { recursive: true })).toSorted()).toEqual([
      "out-2.txt",
      "out.txt",
      "sub",
      "sub/a.txt",
    ])
    expect(await readFile(join(out, "out.txt"), "utf8")).toBe("mine")
    expect(await readFile(join(out, "out-2.txt"), "utf8")).toBe("ABC")
    expect(stderr).toContain(`wrote ${join(out, "out-2.txt")} (3B), because there is another out.txt`)
    expect(stderr).toContain("left out sub/.hidden/hook")
    expect(JSON.stringify(bench.lastMessages()[0])).toContain("Files in the working directory: in.txt.")
  })

  it("prints a line of JSON for everything that happens, and the result last", async () => {
    await using bench = await JobBench.open(
      runs("open('a.txt', 'w').write('abc'); print('hi')"),
      says("Done."),
    )
    const { code, stdout } = await run(bench, [...TOOLS, "--json", "--out", join(bench.folder, "o"), "Go."])
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(code).toBe(0)
    expect(new Set(lines.map(({ type }) => type))).toEqual(
      new Set([
        "TextMessage",
        "ToolCallRequestEvent",
        "ToolOutputEvent",
        "ToolCallExecutionEvent",
        "ModelClientStreamingChunkEvent",
        "TaskResult",
      ]),
    )
    expect(lines.at(-1)).toMatchObject({
      answer: "Done.",
      stopKind: "answer",
      usage: { promptTokens: 6, completionTokens: 2 },
      files: [{ path: "a.txt", size: 3, isRenamed: false }],
      chosen: { sandbox: "wasm" },
      runs: [{ languages: ["python"], run: { exitCode: 0, sandbox: { kind: "wasm" } } }],
    })
  })

  it("takes the task from stdin", async () => {
    await using bench = await JobBench.open(says("Hello."))
    const { code, stdout } = await run(bench, [...TOOLS, "-"], "Say hello.\nIn one word.\n")
    expect([code, stdout]).toEqual([0, "Hello.\n"])
    expect(bench.lastMessages().at(-1)).toMatchObject({ content: "Say hello.\nIn one word.\n" })
  })

  it("exits with 3 and the model's words when a cap ends it", async () => {
    await using bench = await JobBench.open(
      runs("print(1)"),
      runs("print(2)"),
      runs("print(3)"),
      says("I got as far as 2."),
    )
    const { code, stdout, stderr } = await run(bench, [...TOOLS, "--max-turns", "2", "Count on."])
    expect([code, stdout]).toEqual([3, "I got as far as 2.\n"])
    expect(stderr).toContain("2 rounds")
  })

  it("exits with 1 and one line when the model fails", async () => {
    await using bench = await JobBench.open({
      type: "status",
      status: 401,
      message: "bad \u001B]0;key\u0007",
    })
    const { code, stdout, stderr } = await run(bench, [...TOOLS, "Go."])
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr).toMatch(/\nglovebox: .*refuses the key \(401\).*\n$/)
    expect(stderr).not.toContain("\u001B")
  })

  it("makes escapes in what a model and a program say harmless", async () => {
    const evil = "\u001B]52;c;ZXZpbA==\u0007\u001B[2J"
    await using bench = await JobBench.open(runs(`print(${JSON.stringify(evil)})`), says(`Here: ${evil}`))
    const terminal = new Terminal(["run", ...TOOLS, "Go."], { env: bench.env, cwd: bench.folder })
    const seen = await terminal.rest()
    expect(seen).toContain("Here: ")
    // The clipboard and the screen are the user's.
    expect(seen).not.toContain("\u001B]52")
    expect(seen).not.toContain("\u001B[2J")
  })
})

describe("glovebox run, with little to go by", () => {
  it("says what to set when there is no model, and names the demo", async () => {
    await using bench = await JobBench.open()
    const { code, stdout, stderr } = await glovebox(
      ["run", "Go."],
      "",
      { ...NOTHING, HOME: bench.folder },
      bench.folder,
    )
    expect([code, stdout]).toEqual([2, ""])
    expect(stderr).toMatch(/OPENAI_API_KEY[^]*ANTHROPIC_API_KEY[^]*ollama[^]*glovebox run --demo\n$/)
  })

  it("reads the configuration of the folder", async () => {
    await using bench = await JobBench.open(says("Aye."))
    await bench.write(
      "glovebox.config.yaml",
      `model: { provider: openai, name: gpt-4o, base_url: "${bench.env["OPENAI_BASE_URL"]}", api_key_env: MY_KEY }
sandbox: wasm
system_message: Talk like a pirate.
`,
    )
    const env = { ...NOTHING, HOME: bench.folder, MY_KEY: "sk-my-own-key" }
    const { code, stdout, stderr } = await glovebox(["run", "Yes?"], "", env, bench.folder)
    expect([code, stdout]).toEqual([0, "Aye.\n"])
    expect(stderr).toContain(`(by ${join(bench.folder, "glovebox.config.yaml")})`)
    expect(bench.server.headers.at(-1)?.authorization).toBe("Bearer sk-my-own-key")
    expect(JSON.stringify(bench.lastMessages()[0])).toContain("Talk like a pirate.")
  })

  it.each([
    ["a name that is none", "modle: x\n", 1, /glovebox\.config\.yaml:1:\d+: modle: .*did you mean "model"/],
    ["a key", "model: { provider: openai, name: x, api_key: sk-12345678901234567890 }\n", 1, /is a secret/],
    [
      "a wide policy that runs unasked",
      'approve: always\npolicy: { network: { allow: ["evil.example:443"] } }\nsandbox: docker\n',
      1,
      /found and not named, asks to run code unasked/,
    ],
  ])("refuses a configuration with %s", async (_, text, exitCode, message) => {
    await using bench = await JobBench.open()
    await bench.write("glovebox.config.yaml", text)
    const { code, stderr } = await run(bench, ["--model", "openai/gpt-4o", "Go."])
    expect([code, bench.server.requests.length]).toEqual([exitCode, 0])
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain("sk-12345")
  })

  it("does not run code behind a wider policy when there is nobody to ask", async () => {
    await using bench = await JobBench.open()
    const policy = await bench.write("p.yaml", 'env: { REGION: "north" }\n')
    const { code, stderr } = await run(bench, [...TOOLS, "--policy", policy, "Go."])
    expect([code, bench.server.requests.length]).toEqual([2, 0])
    expect(stderr).toMatch(/wider than deny-all \(env: REGION\).*no terminal to ask on\. --approve always/)
  })

  it.each([
    [["--demo", "Go."], /leave out task/],
    [["--work-dir", ".", "--out", "x", "Go."], /--work-dir/],
    [["--file", "absent.csv", "Go."], /--file absent\.csv cannot be given/],
    [["--out", "/dev/null", "Go."], /--out \/dev\/null cannot be used: EEXIST/],
    [["--max-turns", "0", "Go."], /from 1 to 100/],
    [["--sandbox", "local", "Go."], /Allowed choices are auto, docker, jupyter, bubblewrap, wasm/],
    [[], /Nothing to do/],
  ])("exits with 2 for %j", async (args, message) => {
    await using bench = await JobBench.open()
    const { code, stderr } = await run(bench, ["--model", "openai/gpt-4o", ...args])
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)])
  })
})

describe("glovebox run --approve", () => {
  it("shows the code with all that is hidden in it, and runs what is approved", async () => {
    await using bench = await JobBench.open(runs("print(6 * 7) # \u202Eevil\u001B[2J"), says("Done."))
    const terminal = new Terminal(["run", ...TOOLS, "--approve", "ask", "Go."], {
      env: bench.env,
      cwd: bench.folder,
    })
    await terminal.until("reaches nothing beyond deny-all")
    await terminal.until("print(6 * 7) # <U+202E>evil␛[2J")
    await terminal.until("Allow it?")
    terminal.write("y\r")
    await terminal.until("42")
    expect(await terminal.code).toBe(0)
    // Once: where one is asked.
    expect((await terminal.rest()).split("print(6 * 7)").length).toBe(2)
  })

  it("does not run what is not approved, and tells the model", async () => {
    await using bench = await JobBench.open(runs("print('ran')"), says("As you wish."))
    const terminal = new Terminal(["run", ...TOOLS, "--approve", "ask", "Go."], {
      env: bench.env,
      cwd: bench.folder,
    })
    await terminal.until("Allow it?")
    await terminal.type("n\r", "Why not?")
    terminal.write("it prints\r")
    expect(await terminal.rest()).toContain("As you wish.")
    expect(bench.lastMessages().at(-1)).toMatchObject({
      content: expect.stringMatching(/was not approved.*it prints/) as string,
    })
  })

  it("runs what the person made of it", async () => {
    await using bench = await JobBench.open(runs("print('as written')"), says("Done."))
    const editor = await bench.write("editor.sh", '#!/bin/sh\necho "print(\'as edited\')" > "$1"\n')
    const terminal = new Terminal(["run", ...TOOLS, "--approve", "ask", "Go."], {
      env: { ...bench.env, VISUAL: `sh ${editor}` },
      cwd: bench.folder,
    })
    await terminal.until("Allow it?")
    terminal.write("e\r")
    await terminal.until("print('as edited')")
    await terminal.until("Allow it?")
    terminal.write("y\r")
    expect(await terminal.code).toBe(0)
    expect(bench.lastMessages().at(-1)).toMatchObject({
      content: expect.stringContaining("as edited") as string,
    })
  })

  it("ends at Ctrl-C while it asks", async () => {
    await using bench = await JobBench.open(runs("print('ran')"), says("Done."))
    const terminal = new Terminal(["run", ...TOOLS, "--approve", "ask", "Go."], {
      env: bench.env,
      cwd: bench.folder,
    })
    await terminal.until("Allow it?")
    terminal.write("\u0003")
    expect(await terminal.code).toBe(130)
  })

  it("never runs code with never", async () => {
    await using bench = await JobBench.open(runs("print('ran')"), says("Without, then."))
    const { code, stdout, stderr } = await run(bench, [...TOOLS, "--approve", "never", "Go."])
    expect([code, stdout]).toEqual([0, "Without, then.\n"])
    expect(stderr).toContain("code was not run: --approve never")
  })
})

describe("glovebox run, ended by others", () => {
  const SLEEP = "import time; print('rea' + 'dy', flush=True)\nwhile True: time.sleep(1)"

  function start(bench: JobBench): ReturnType<typeof spawn> & { readonly pid: number } {
    const child = spawn(process.execPath, [bin, "run", ...TOOLS, "Go."], {
      env: { ...process.env, ...bench.env },
      cwd: bench.folder,
    })
    return child as typeof child & { readonly pid: number }
  }

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("leaves nothing running after %s while code runs", async (signal, code) => {
    await using bench = await JobBench.open(runs(SLEEP))
    const child = start(bench)
    const end = ended(child as never)
    await untilSeen(child, "ready")
    const children = await childrenOf(child.pid)
    expect(children.length).toBeGreaterThan(0)
    child.kill(signal)
    expect(await end).toMatchObject({ code, stdout: "" })
    for (const pid of children) expect(await isAlive(pid)).toBe(false)
  })

  it("leaves nothing running when it is killed", async () => {
    await using bench = await JobBench.open(runs(SLEEP))
    const child = start(bench)
    await untilSeen(child, "ready")
    const children = await childrenOf(child.pid)
    child.kill("SIGKILL")
    for (const pid of children) {
      await vi.waitFor(async () => expect(await isAlive(pid)).toBe(false), { timeout: 20_000 })
    }
  })

  it("ends at SIGINT while the model is silent, and closes its connection", async () => {
    await using bench = await JobBench.open({ type: "silence" })
    const child = start(bench)
    const end = ended(child as never)
    const request = await bench.server.nextRequest()
    child.kill("SIGINT")
    expect((await end).code).toBe(130)
    expect(await request.over).toBe("closed")
  })

  it("ends when nobody reads its answer any more", async () => {
    await using bench = await JobBench.open(says("x".repeat(200_000)))
    const child = start(bench)
    child.stdout?.destroy()
    expect(await once(child, "close")).toEqual([141, null])
  })
})

async function untilSeen(child: ReturnType<typeof spawn>, text: string): Promise<void> {
  let seen = ""
  for await (const chunk of child.stderr ?? []) {
    seen += String(chunk)
    if (seen.includes(text)) return
  }
  throw new Error(`${text} did not come: ${seen}`)
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")
  return text.trim().split(/\s+/).filter(Boolean).map(Number)
}

async function isAlive(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined)
  return status !== undefined && !/\) [ZX] /.test(status)
}
