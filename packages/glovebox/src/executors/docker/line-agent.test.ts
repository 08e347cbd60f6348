import fc from "fast-check"
import { type TarEntry, packTar } from "modern-tar"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { GloveboxError } from "../../core/index.ts"
import type { WorkspaceFile } from "../workspace-file.ts"
import { type AgentLine, agentLine, stateOf, turn } from "../sandbox/agent-line.test-kit.ts"
import { LineAgent } from "./line-agent.ts"
import type { Collected, CollectLimits, RunEnd } from "../sandbox/sandbox-agent.ts"

interface Greeted extends AgentLine {
  readonly agent: LineAgent
}

async function greeted(): Promise<Greeted> {
  const line = agentLine()
  const greeting = LineAgent.greet(line.channel)
  line.stdout("ready 1 sh=/bin/sh node=\n")
  return { ...line, agent: await greeting }
}

// By agent: the markers that tests have met.
const told = new WeakMap<LineAgent, Set<string>>()

/** The marker of the newest piece of work, which no other had. */
async function markerOf(line: Greeted, word: "run" | "get"): Promise<string> {
  const known = told.get(line.agent) ?? new Set<string>()
  told.set(line.agent, known)
  const pattern = new RegExp(`${word} ([0-9a-f]{48})[ \\n]`, "g")
  const find = (sent: Buffer): string | undefined =>
    [...sent.toString("latin1").matchAll(pattern)]
      .map(([, marker]) => marker!)
      .find((each) => !known.has(each))
  await line.heard((sent) => find(sent) !== undefined)
  const marker = find(line.sent())!
  known.add(marker)
  return marker
}

interface Started extends Greeted {
  readonly run: Promise<RunEnd>
  readonly output: string[]
  readonly marker: string
}

async function running(): Promise<Started> {
  const line = await greeted()
  const output: string[] = []
  const onOutput = (stream: string, bytes: Buffer): void => void output.push(`${stream}:${bytes.toString()}`)
  const run = line.agent.run({ argv: ["sh", "main.sh"], how: "exec", onOutput })
  run.catch(() => {})
  return { ...line, output, run, marker: await markerOf(line, "run") }
}

const file = (path: string, text: string, executable = false): WorkspaceFile => ({
  path,
  content: Buffer.from(text),
  executable,
})

const entry = (name: string, body = "", fields: Partial<TarEntry["header"]> = {}): TarEntry => ({
  header: { name, size: Buffer.byteLength(body), type: "file", mode: 0o644, ...fields },
  body,
})

/** Tells apart what differs, and not a Buffer from the Uint8Array it is. */
const plain = (files: readonly WorkspaceFile[]): object[] =>
  files.map(({ content, ...rest }) => ({ ...rest, text: Buffer.from(content).toString() }))

const plenty: CollectLimits = { maxFiles: 10, maxBytes: 1000 }

/** Asks for the files, and answers with this archive. */
async function collect(
  line: Greeted,
  archive: Uint8Array,
  { limits = plenty, status = 0 }: { limits?: CollectLimits; status?: number } = {},
): Promise<Collected> {
  const collecting = line.agent.collect(limits)
  collecting.catch(() => {})
  const marker = await markerOf(line, "get")
  line.stdout(archive, `${marker} ${status} -\n`)
  line.stderr(`${marker}\n`)
  const collected = await collecting
  line.agent.delivered()
  return collected
}

async function packed(...entries: readonly TarEntry[]): Promise<Uint8Array> {
  return packTar([...entries])
}

describe("LineAgent, greeting", () => {
  it("knows which programs were found, and has no interpreter ready", async () => {
    const { agent } = await greeted()
    expect(agent.programs).toEqual({ sh: "/bin/sh", node: null })
    expect(agent.hasReadyInterpreter).toBe(false)
    expect(agent.facts).toEqual({})
  })

  it("takes a greeting in pieces, and no complaint of the shell for one", async () => {
    const line = agentLine()
    const greeting = LineAgent.greet(line.channel)
    line.stderr("sh: something\n")
    for (const letter of "ready 1 sh=/bin/sh\n") line.stdout(letter)
    expect((await greeting).programs).toEqual({ sh: "/bin/sh" })
  })

  it("refuses another version, a greeting without end, and more than a greeting", async () => {
    for (const said of [
      "ready 2 sh=/bin/sh\n",
      "ready \n",
      `ready 1 ${"x".repeat(70_000)}`,
      "ready 1\nmore",
    ]) {
      const line = agentLine()
      const greeting = LineAgent.greet(line.channel)
      line.stdout(said)
      await expectFailure(greeting, "SANDBOX_BROKEN")
    }
  })

  it("fails when the container ends first", async () => {
    const line = agentLine()
    const greeting = LineAgent.greet(line.channel)
    line.stdout("rea")
    line.end()
    await expectFailure(greeting, "SANDBOX_LOST")
  })
})

describe("LineAgent, running", () => {
  it("gives both streams, and ends when both have ended", async () => {
    const { agent, run, output, marker, ...line } = await running()
    expect(line.sent().toString()).toBe(`run ${marker} 2\nsh\nmain.sh\n`)
    line.stdout("a\n")
    line.stderr("b\n", `${marker}\n`)
    await turn()
    line.stdout("no end of line", `${marker} 7 memory,workspace\n`)
    expect(await run).toEqual({ code: 7, signal: null, limits: ["memory", "workspace"] })
    expect(output.filter((text) => text.startsWith("stdout")).join("")).toBe(
      "stdout:a\nstdout:no end of line",
    )
    expect(output.filter((text) => text.startsWith("stderr")).join("")).toBe("stderr:b\n")
    await agent.whenIdle()
    expect(agent.lost.aborted).toBe(false)
  })

  it("takes a status above 128 for the signal it stands for", async () => {
    for (const [status, expected] of [
      [0, { code: 0, signal: null }],
      [128, { code: 128, signal: null }],
      [137, { code: null, signal: 9 }],
      [192, { code: null, signal: 64 }],
      [193, { code: 193, signal: null }],
      [255, { code: 255, signal: null }],
    ] as const) {
      const { run, marker, ...line } = await running()
      line.stdout(`${marker} ${status} -\n`)
      line.stderr(`${marker}\n`)
      expect(await run).toEqual({ ...expected, limits: [] })
    }
  })

  it("is not fooled by a block that prints the marker of another", async () => {
    const first = await running()
    first.stdout(`${first.marker} 0 -\n`)
    first.stderr(`${first.marker}\n`)
    await first.run
    const output: string[] = []
    const run = first.agent.run({
      argv: ["sh", "b"],
      how: "exec",
      onOutput: (_stream, bytes) => output.push(bytes.toString()),
    })
    const marker = await markerOf(first, "run")
    expect(marker).not.toBe(first.marker)
    first.stdout(`${first.marker} 0 -\n`, `${marker} 3 -\n`)
    first.stderr(`${marker}\n`)
    expect(await run).toMatchObject({ code: 3 })
    expect(output.join("")).toBe(`${first.marker} 0 -\n`)
  })

  it("finds out an end without a status, with another, and output behind it", async () => {
    for (const behind of ["\n", " x -\n", " 256 -\n", " 1\n", " -1 -\n", " 0 - \nmore", " 0 -"]) {
      const line = await running()
      line.stdout(line.marker, behind)
      if (!behind.endsWith("\n")) line.stdout("x".repeat(300))
      line.stderr(`${line.marker}\n`)
      await expectFailure(line.run, "SANDBOX_BROKEN")
      expect([behind, line.agent.lost.aborted]).toEqual([behind, true])
      expect(line.isClosed()).toBe(true)
    }
  })

  it("finds out output between two pieces of work, and lets the shell complain", async () => {
    const line = await greeted()
    line.stderr("sh: cannot do that\n")
    for (let count = 0; count < 10; count += 1) await turn()
    expect(line.agent.lost.aborted).toBe(false)
    line.stdout("x")
    for (let count = 0; count < 50 && !line.agent.lost.aborted; count += 1) await turn()
    expect(GloveboxError.is(line.agent.lost.reason, "SANDBOX_BROKEN")).toBe(true)
    expect(line.isClosed()).toBe(true)
    await expectFailure(line.agent.collect(plenty), "SANDBOX_BROKEN")
  })

  it("refuses arguments that its protocol cannot carry, and does one thing at a time", async () => {
    const { agent, run, marker, ...line } = await running()
    const request = { how: "exec", onOutput: () => {} } as const
    for (const argument of ["a\nb", "a\0b"]) {
      await expectFailure(agent.run({ ...request, argv: ["sh", argument] }), "OPTION_INVALID")
    }
    await expect(agent.run({ ...request, argv: ["sh"] })).rejects.toThrow("one thing at a time")
    agent.kill()
    await line.heard((sent) => sent.toString().endsWith("kill\n"))
    line.stdout(`${marker} 137 -\n`)
    expect(await stateOf(run)).toBe("pending")
    line.stderr(`${marker}\n`)
    await run
  })

  it("loses the sandbox when the connection ends, whatever it was doing", async () => {
    const run = await running()
    run.stdout(`${run.marker} 0 -\n`)
    const idle = await greeted()
    const collecting = await greeted()
    const collected = collecting.agent.collect(plenty)
    for (const line of [run, idle, collecting]) line.end()
    await expectFailure(run.run, "SANDBOX_LOST")
    await expectFailure(collected, "SANDBOX_LOST")
    for (let count = 0; count < 50 && !idle.agent.lost.aborted; count += 1) await turn()
    for (const { agent } of [run, idle, collecting]) {
      expect(GloveboxError.is(agent.lost.reason, "SANDBOX_LOST")).toBe(true)
      await agent.put([file("a", "b")])
      await expectFailure(agent.run({ argv: ["sh"], how: "exec", onOutput: () => {} }), "SANDBOX_LOST")
    }
  })

  it("settles everything, and throws nothing elsewhere, whatever comes", async () => {
    const piece = fc.oneof(
      fc.constantFrom("MARK", "MARK 0 -\n", "MARK\n", "MARK 1 memory\n", "\n", " 0 -\n"),
      fc.string({ maxLength: 6 }),
    )
    const step = fc.tuple(
      fc.constantFrom("run", "get", "turn"),
      fc.array(piece, { maxLength: 3 }),
      fc.boolean(),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 4 }), async (steps) => {
        const line = await greeted()
        const all: Promise<unknown>[] = []
        for (const [what, pieces, isStdout] of steps) {
          if (what === "run") all.push(line.agent.run({ argv: ["sh"], how: "exec", onOutput: () => {} }))
          if (what === "get") all.push(line.agent.collect(plenty))
          for (const work of all) work.catch(() => {})
          await turn()
          const marker = /(?:run|get) ([0-9a-f]{48})/.exec(line.sent().toString())?.[1] ?? "none"
          for (const text of pieces) line[isStdout ? "stdout" : "stderr"](text.replace("MARK", marker))
          await turn()
        }
        line.end()
        for (const work of [...all, line.agent.whenIdle()]) {
          expect(await stateOf(work, 100)).not.toBe("pending")
        }
        for (const result of await Promise.allSettled(all)) {
          if (result.status === "fulfilled") continue
          const reason: unknown = result.reason
          expect(GloveboxError.is(reason) || String(reason).includes("one thing at a time")).toBe(true)
        }
      }),
      { numRuns: 25 },
    )
  })
})

describe("LineAgent, putting", () => {
  it("sends files and removals as lines and bytes", async () => {
    const { agent, ...line } = await greeted()
    await agent.put([file("a b", "1\n2"), file("run", "", true)])
    agent.remove(["x", "y z"])
    await line.heard((sent) => sent.includes("del y z\n"))
    expect(line.sent().toString()).toBe("put 644 3 a b\n1\n2put 755 0 run\ndel x\ndel y z\n")
  })

  it("sends all of a file before what is asked for after it, although nobody waited", async () => {
    const { agent, ...line } = await greeted()
    const putting = agent.put([file("main.sh", "echo 1\n"), file("other", "2")])
    agent.run({ argv: ["sh", "main.sh"], how: "exec", onOutput: () => {} }).catch(() => {})
    await putting
    const marker = await markerOf({ ...line, agent }, "run")
    expect(line.sent().toString()).toBe(
      `put 644 7 main.sh\necho 1\nput 644 1 other\n2run ${marker} 2\nsh\nmain.sh\n`,
    )
    line.end()
  })

  it("sends large content whole", async () => {
    const { agent, ...line } = await greeted()
    const content = Buffer.alloc(2.5 * 1024 ** 2, "0123456789")
    await agent.put([{ path: "big", content, executable: false }])
    const head = `put 644 ${content.length} big\n`
    await line.heard((sent) => sent.length >= head.length + content.length)
    expect(line.sent().equals(Buffer.concat([Buffer.from(head), content]))).toBe(true)
  })
})

describe("LineAgent, collecting", () => {
  it("gives what is new or changed, and what is gone", async () => {
    const line = await greeted()
    await line.agent.put([file("same", "1"), file("changed", "1"), file("gone", "1")])
    const first = await collect(
      line,
      await packed(
        entry("./", "", { type: "directory" }),
        entry("./same", "1"),
        entry("./changed", "2"),
        entry("./new/run", "3", { mode: 0o755 }),
      ),
    )
    expect(plain(first.files)).toEqual(plain([file("changed", "2"), file("new/run", "3", true)]))
    expect([first.removed, first.over]).toEqual([["gone"], false])
    const again = await packed(
      entry("same", "1"),
      entry("changed", "2"),
      entry("new/run", "3", { mode: 0o755 }),
    )
    expect(await collect(line, again)).toEqual({ files: [], removed: [], over: false })
  })

  it("gives a file whose executable bit alone has changed", async () => {
    const line = await greeted()
    await line.agent.put([file("tool", "1")])
    const { files } = await collect(line, await packed(entry("tool", "1", { mode: 0o755 })))
    expect(plain(files)).toEqual(plain([file("tool", "1", true)]))
  })

  it("leaves behind links, devices, absolute names and names that climb", async () => {
    const line = await greeted()
    const archive = await packed(
      entry("link", "", { type: "symlink", linkname: "/etc/passwd" }),
      entry("hard", "", { type: "link", linkname: "../../etc/passwd" }),
      entry("device", "", { type: "character-device" }),
      entry("fifo", "", { type: "fifo" }),
      entry("folder", "", { type: "directory" }),
      entry("/etc/cron.d/x", "1"),
      entry("../up", "1"),
      entry("./a/../../up", "1"),
      entry("./../up", "1"),
      entry("new\nline", "1"),
      entry("C:\\x", "1"),
      entry("fine", "1"),
    )
    const { files, removed } = await collect(line, archive)
    expect(plain(files)).toEqual(plain([file("fine", "1")]))
    expect(removed).toEqual([])
  })

  it("carries no more than it was asked for, and says so", async () => {
    const line = await greeted()
    const archive = await packed(entry("a", "12345"), entry("b", "12345"), entry("c", "1"), entry("d", "1"))
    const limits = { maxFiles: 2, maxBytes: 8 }
    const { files, over } = await collect(line, archive, { limits })
    expect([files.map(({ path }) => path), over]).toEqual([["a", "c"], true])
  })

  it("keeps nothing of an archive that is far too large, and takes nothing for gone", async () => {
    const line = await greeted()
    await line.agent.put([file("kept", "1")])
    const archive = await packed(entry("big", "x".repeat(100_000)))
    const found = await collect(line, archive, { limits: { maxFiles: 1, maxBytes: 10 } })
    expect(found).toEqual({ files: [], removed: [], over: true })
  })

  it("takes no file for gone because the archive was cut short", async () => {
    const line = await greeted()
    await line.agent.put([file("a", "1"), file("b", "2")])
    const archive = await packed(entry("a", "1"), entry("b", "2"))
    // As when tar is killed for want of memory after its first file.
    const removed = await collect(line, archive.subarray(0, 1024), { status: 137 }).then(
      (found) => found.removed,
      (error: unknown) => (GloveboxError.is(error, "SANDBOX_BROKEN") ? [] : error),
    )
    expect(removed).toEqual([])
  })

  it("finds out what is no archive", async () => {
    for (const archive of [Buffer.alloc(512, "x"), Buffer.alloc(2048, 255)]) {
      const line = await greeted()
      await expectFailure(collect(line, archive), "SANDBOX_BROKEN")
      expect(line.agent.lost.aborted).toBe(true)
    }
  })

  it("fails as a broken sandbox, or gives only what a workspace takes, for any bytes", async () => {
    const whole = Buffer.from(await packed(entry("a", "1"), entry("b/c", "22"), entry("d", "")))
    const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 })), {
      maxLength: 6,
    })
    await fc.assert(
      fc.asyncProperty(damage, fc.nat(whole.length), async (changes, length) => {
        const archive = Buffer.from(whole)
        for (const [at, byte] of changes) archive[at] = byte
        const line = await greeted()
        const paths = await collect(line, archive.subarray(0, length)).then(
          ({ files }) => files.map(({ path }) => path),
          (error: unknown) => (GloveboxError.is(error, "SANDBOX_BROKEN") ? [] : [`/${String(error)}`]),
        )
        expect(paths.filter((path) => path.startsWith("/") || path.split("/").includes(".."))).toEqual([])
        line.end()
      }),
      { numRuns: 20 },
    )
  })
})
