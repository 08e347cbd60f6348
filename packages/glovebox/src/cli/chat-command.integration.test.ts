import { chmod, readFile, readdir, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { type Ended, buildCommand, glovebox } from "./glovebox.test-kit.ts"
import { JobBench, runs, says } from "./job.test-kit.ts"
import { Terminal } from "./terminal.test-kit.ts"

beforeAll(async () => {
  await buildCommand()
})

const CHAT = ["chat", "--model", "openai/gpt-4o", "--sandbox", "wasm"]

async function chat(bench: JobBench, args: readonly string[], input: string): Promise<Ended> {
  return glovebox([...CHAT, ...args], input, bench.env, bench.folder)
}

function talk(bench: JobBench, ...args: readonly string[]): Terminal {
  return new Terminal([...CHAT, ...args], { env: bench.env, cwd: bench.folder })
}

describe("glovebox chat, from a pipe", () => {
  it("takes each line as a turn, keeps variables and files, and prints the answers alone", async () => {
    await using bench = await JobBench.open(
      runs("x = 41; open('n.txt', 'w').write('7')"),
      says("Kept."),
      runs("print(x + 1, open('n.txt').read())"),
      says("42 and 7."),
    )
    const { code, stdout, stderr } = await chat(bench, [], "Keep 41.\nOne more?\n")
    expect([code, stdout]).toEqual([0, "Kept.\n42 and 7.\n"])
    expect(stderr).toContain("| 42 7")
    const files = join(bench.folder, ".glovebox", "chat")
    expect((await readdir(files, { recursive: true })).toSorted()).toEqual([
      "chat-1",
      "chat-1.json",
      "chat-1/n.txt",
    ])
  })

  it("goes on the next time with what was said, and with the files", async () => {
    await using bench = await JobBench.open(
      runs("open('n.txt', 'w').write('7')"),
      says("I wrote it."),
      runs("print('file', open('n.txt').read())"),
      says("It is 7."),
    )
    await chat(bench, ["--session", "work"], "Write 7.\n")
    const { code, stdout } = await chat(bench, [], "What did you write?\n")
    expect([code, stdout]).toEqual([0, "It is 7.\n"])
    const said = JSON.stringify(bench.lastMessages())
    for (const text of ["Write 7.", "I wrote it.", "What did you write?", "file 7"])
      expect(said).toContain(text)
  })

  it("begins another with --new, and lists them", async () => {
    await using bench = await JobBench.open(says("A."), says("B."))
    await chat(bench, [], "First.\n")
    await chat(bench, ["--new"], "Second.\n")
    expect(JSON.stringify(bench.lastMessages())).not.toContain("First.")
    const { code, stdout } = await chat(bench, ["--list"], "")
    expect(code).toBe(0)
    expect(stdout).toMatch(/^chat-2 .* openai\/gpt-4o  1 turn  Second\.\nchat-1 .* First\.\n$/)
    expect((await chat(bench, ["--new", "--session", "chat-1"], "")).code).toBe(2)
    expect((await chat(bench, ["--session", "../x"], "")).code).toBe(2)
  })

  it("leaves nothing in a project whose chats are only listed", async () => {
    await using bench = await JobBench.open()
    expect(await chat(bench, ["--list"], "")).toMatchObject({ code: 0, stdout: "" })
    expect(await readdir(bench.folder)).toEqual([])
  })

  it("goes on with nothing that a clone brought, and says when what was kept was changed", async () => {
    await using bench = await JobBench.open(says("A."))
    await chat(bench, [], "First.\n")
    const kept = join(bench.folder, ".glovebox", "chat", "chat-1.json")
    const saved = JSON.parse(await readFile(kept, "utf8")) as object
    await writeFile(kept, JSON.stringify({ ...saved, state: {} }))
    expect(await chat(bench, [], "Second.\n")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/chat-1 cannot be gone on with: it was changed.*--new\n$/) as string,
    })
    await chmod(join(bench.folder, ".glovebox"), 0o755)
    const { code, stderr } = await chat(bench, [], "Second.\n")
    expect([code, bench.server.requests.length]).toEqual([1, 1])
    expect(stderr).toContain("was not made by this command")
  })

  it("knows its commands", async () => {
    await using bench = await JobBench.open(
      runs("open('a.txt', 'w').write('x')"),
      says("Done."),
      says("Hello."),
    )
    const { code, stdout, stderr } = await chat(
      bench,
      [],
      "Make a file.\n/files\n/save notes.md\n/save notes.md\n/reset\nHello?\n/frobnicate\n/help\n/exit\nnever\n",
    )
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Done\.\na\.txt\nHello\.\nSay what is to be done[^]*\/reset/)
    expect(stderr).toContain("there is no /frobnicate")
    expect(stderr).toContain("notes.md cannot be written")
    expect(JSON.stringify(bench.lastMessages())).not.toContain("Make a file.")
    expect(await readFile(join(bench.folder, "notes.md"), "utf8")).toBe("## Make a file.\n\nDone.\n")
  })

  it("goes on after a model that fails, and exits with 1", async () => {
    await using bench = await JobBench.open({ type: "status", status: 400, message: "no" }, says("Here."))
    const { code, stdout, stderr } = await chat(bench, [], "One.\nTwo.\n")
    expect([code, stdout]).toEqual([1, "Here.\n"])
    expect(stderr).toMatch(/glovebox: .*400/)
  })

  it("does not mistake the conversation of another kind of model for its own", async () => {
    await using bench = await JobBench.open(says("A."))
    await chat(bench, [], "First.\n")
    const { code, stderr } = await chat(bench, ["--model", "openai/some-model"], "Second.\n")
    expect([code, bench.server.requests.length]).toEqual([1, 1])
    expect(stderr).toMatch(/was with openai\/gpt-4o, which calls tools/)
  })

  it("keeps what was said to its user", async () => {
    await using bench = await JobBench.open(says("A."))
    await chat(bench, [], "First.\n")
    const folder = join(bench.folder, ".glovebox")
    expect((await stat(join(folder, "chat", "chat-1.json"))).mode & 0o077).toBe(0)
    expect((await stat(folder)).mode & 0o077).toBe(0)
    expect(await readFile(join(folder, ".gitignore"), "utf8")).toBe("*\n")
  })
})

describe("glovebox chat, on a terminal", () => {
  it("is one conversation at a time", async () => {
    await using bench = await JobBench.open(says("A."), says("B."))
    const terminal = talk(bench)
    await terminal.until("> ")
    await terminal.type("First.\r", "A.")
    await terminal.until("> ")
    const { code, stderr } = await chat(bench, [], "Second.\n")
    expect(code).toBe(1)
    expect(stderr).toMatch(/chat-1 is open in another glovebox \(process \d+\).*--new/)
    expect((await chat(bench, ["--new"], "Second.\n")).stdout).toBe("B.\n")
    terminal.write("\u0004")
    expect(await terminal.code).toBe(0)
  })

  it("talks, cancels a turn at Ctrl-C, goes on, and ends at Ctrl-D", async () => {
    await using bench = await JobBench.open(
      runs("import time; print('rea' + 'dy', flush=True)\nwhile True: time.sleep(1)"),
      says("Still here."),
    )
    const terminal = talk(bench)
    await terminal.until("Code runs in wasm")
    await terminal.until("> ")
    await terminal.type("Wait.\r", "ready")
    await terminal.type("\u0003", "cancelled; the chat goes on")
    await terminal.until("> ")
    await terminal.type("Well?\r", "Still here.")
    await terminal.until("> ")
    terminal.write("\u0004")
    expect(await terminal.code).toBe(0)
    // What was cancelled has an end in the conversation, or the model would refuse it.
    expect(bench.lastMessages().map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "user",
    ])
  })

  it("ends at Ctrl-C twice, and remembers lines in a file of the user's own", async () => {
    await using bench = await JobBench.open(says("Hello."), says("Again."))
    const first = talk(bench)
    await first.until("> ")
    await first.type("Say hello.\r", "Hello.")
    await first.until("> ")
    await first.type("\u0003", "Ctrl-C again")
    first.write("\u0003")
    expect(await first.code).toBe(130)
    const history = join(bench.folder, ".glovebox", "chat", "history")
    expect(await readFile(history, "utf8")).toBe("Say hello.\n")
    expect((await stat(history)).mode & 0o077).toBe(0)
    const second = talk(bench)
    await second.until("Going on with chat-1, after 1 turn; the last was: Say hello.")
    await second.until("> ")
    await second.type("\u001B[A", "Say hello.")
    await second.type("\r", "Again.")
    await second.until("> ")
    await second.type("/exit\r", "")
    expect(await second.code).toBe(0)
  })

  it("asks before code runs, in the same place", async () => {
    await using bench = await JobBench.open(runs("print(6 * 7)"), says("Done."))
    const terminal = talk(bench, "--approve", "ask")
    await terminal.until("> ")
    await terminal.type("Go.\r", "Allow it?")
    await terminal.type("y\r", "42")
    await terminal.until("Done.")
    await terminal.until("> ")
    terminal.write("\u0004")
    expect(await terminal.code).toBe(0)
  })

  it("takes Ctrl-C while it asks for a cancelled turn", async () => {
    await using bench = await JobBench.open(runs("print(6 * 7)"), says("Done."))
    const terminal = talk(bench, "--approve", "ask")
    await terminal.until("> ")
    await terminal.type("Go.\r", "Allow it?")
    await terminal.type("\u0003", "cancelled; the chat goes on")
    await terminal.until("> ")
    await terminal.type("Well?\r", "Done.")
    await terminal.until("> ")
    terminal.write("\u0004")
    expect(await terminal.code).toBe(0)
  })
})
