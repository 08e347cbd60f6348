import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { GloveboxError } from "../../core/index.ts"
import type { WorkspaceFile } from "../workspace-file.ts"
import { encodeFrame, encodeJsonFrame } from "./agent-frames.ts"
import { type AgentLine, FACTS, agentLine, say, stateOf, turn } from "./agent-line.test-kit.ts"
import { FramedAgent } from "./framed-agent.ts"
import type { Collected, RunEnd } from "./sandbox-agent.ts"

interface SentFrame {
  readonly type: string
  readonly payload: Buffer
}

function framesOf(sent: Buffer): SentFrame[] {
  const frames: SentFrame[] = []
  for (let at = 0; at + 5 <= sent.length;) {
    const end = at + 5 + sent.readUInt32BE(at + 1)
    frames.push({ type: String.fromCharCode(sent[at]!), payload: sent.subarray(at + 5, end) })
    at = end
  }
  return frames
}

function typesOf(sent: Buffer): string {
  return framesOf(sent)
    .map(({ type }) => type)
    .join("")
}

interface Greeted extends AgentLine {
  readonly agent: FramedAgent
}

async function greeted(facts: object = FACTS): Promise<Greeted> {
  const line = agentLine()
  const greeting = FramedAgent.greet(line.channel)
  line.stdout(say.ready(facts))
  return { ...line, agent: await greeting }
}

interface Started extends Greeted {
  readonly output: string[]
  readonly run: Promise<RunEnd>
}

async function running(): Promise<Started> {
  const line = await greeted()
  const output: string[] = []
  const onOutput = (stream: string, bytes: Buffer): void => void output.push(`${stream}:${bytes.toString()}`)
  const run = line.agent.run({ argv: ["python3", "main.py"], how: "fork", onOutput })
  run.catch(() => {})
  return { ...line, output, run }
}

async function collecting(
  limits = { maxFiles: 3, maxBytes: 100 },
): Promise<Greeted & { collect: Promise<Collected> }> {
  const line = await greeted()
  const collect = line.agent.collect(limits)
  collect.catch(() => {})
  return { ...line, collect }
}

const file = (path: string, content: Uint8Array | string, executable = false): WorkspaceFile => ({
  path,
  content: Buffer.from(content as Uint8Array),
  executable,
})

/** Why the sandbox was found out; fails unless nothing of it is used any more. */
async function findingOf(line: Greeted, work: Promise<unknown>): Promise<string> {
  const error = await expectFailure(work, "SANDBOX_BROKEN")
  expect(line.agent.lost.aborted).toBe(true)
  expect(line.agent.lost.reason).toBe(error)
  expect(line.isClosed()).toBe(true)
  await expectFailure(line.agent.collect({ maxFiles: 1, maxBytes: 1 }), "SANDBOX_BROKEN")
  return error.message
}

const EVERY_ANSWER: Readonly<Record<string, Buffer>> = {
  R: say.ready(),
  o: say.out("x"),
  e: say.err("x"),
  x: say.exit(1),
  f: say.file("a", 1),
  d: say.data("x"),
  v: say.gone("a"),
  c: say.collected(),
  "!X": say.failed({ op: "X", message: "no" }),
  "!C": say.failed({ op: "C", message: "no" }),
}

describe("FramedAgent, greeting", () => {
  it("knows what the agent found", async () => {
    const { agent } = await greeted()
    expect(agent.programs).toEqual({ python3: "/usr/bin/python3", node: null })
    expect(agent.hasReadyInterpreter).toBe(true)
    expect(agent.facts).toEqual(FACTS)
    expect(agent.lost.aborted).toBe(false)
  })

  it("takes facts that could not be read, which are null", async () => {
    const unread = {
      ...FACTS,
      status: { ...FACTS.status, NoNewPrivs: null, Seccomp: null },
      interfaces: null,
      root: { readOnly: null },
      workspace: { bytes: null, files: null },
      cgroup: { version: null, memory: null, swap: null, pids: null, cpus: null },
    }
    const { agent } = await greeted(unread)
    expect(agent.facts).toMatchObject({ root: { readOnly: null } })
  })

  it("takes only a greeting, whole and of the known version", async () => {
    const others = Object.entries(EVERY_ANSWER).filter(([name]) => name !== "R")
    const wrong = [
      ...others.map(([, frame]) => frame),
      say.ready({ ...FACTS, version: 2 }),
      say.ready({ ...FACTS, uid: "root" }),
      say.ready({}),
      encodeFrame("R", Buffer.from("{")),
      encodeFrame("R"),
      Buffer.from("Traceback (most recent call last):"),
    ]
    for (const frame of wrong) {
      const line = agentLine()
      const greeting = FramedAgent.greet(line.channel)
      line.stdout(frame)
      await expectFailure(greeting, "SANDBOX_BROKEN")
      expect(line.isClosed()).toBe(true)
    }
  })

  it("says what the container complained of when it ends before it greets", async () => {
    const line = agentLine()
    const greeting = FramedAgent.greet(line.channel)
    line.stderr("x".repeat(20_000))
    line.stderr("glovebox resident: bad config\n")
    line.end()
    const { message } = await expectFailure(greeting, "SANDBOX_LOST", /glovebox resident: bad config/)
    expect(message.length).toBeLessThan(9_000)
  })

  it("fails when the connection breaks, or has ended before", async () => {
    const line = agentLine()
    const greeting = FramedAgent.greet(line.channel)
    line.fail(new Error("ECONNRESET"))
    await expectFailure(greeting, "SANDBOX_LOST", /ECONNRESET/)
    await expectFailure(FramedAgent.greet(line.channel), "SANDBOX_LOST")
  })
})

describe("FramedAgent, running", () => {
  it("runs, gives the output in its order, and the end", async () => {
    const { agent, run, output, ...line } = await running()
    line.stdout(say.out("a"), say.err("b"))
    line.stdout(say.out("c"), say.exit(1, 3, ["memory"]))
    expect(await run).toEqual({ code: 3, signal: null, limits: ["memory"] })
    expect(output).toEqual(["stdout:a", "stderr:b", "stdout:c"])
    const second = agent.run({ argv: ["sh"], how: "exec", onOutput: () => {} })
    line.stdout(say.killed(2, 11))
    expect(await second).toEqual({ code: null, signal: 11, limits: [] })
    await line.heard((sent) => framesOf(sent).length === 2)
    const asked = framesOf(line.sent()).map(({ type, payload }) => [type, JSON.parse(payload.toString())])
    expect(asked).toEqual([
      ["X", { id: 1, argv: ["python3", "main.py"], how: "fork" }],
      ["X", { id: 2, argv: ["sh"], how: "exec" }],
    ])
  })

  it("takes an end only of the block that runs, and only a whole one", async () => {
    const end = (fields: object): Buffer =>
      encodeJsonFrame("x", { id: 1, code: 0, signal: null, limits: [], ...fields })
    const wrong: [Buffer, RegExp][] = [
      [end({ id: 2 }), /the end of another block/],
      [end({ id: 0 }), /the end of another block/],
      [end({ code: null }), /neither an exit nor a signal/],
      [end({ signal: 9 }), /neither an exit nor a signal/],
      [end({ code: 256 }), /wrong fields/],
      [end({ code: -1 }), /wrong fields/],
      [end({ code: 0.5 }), /wrong fields/],
      [end({ limits: ["all"] }), /wrong fields/],
      [encodeFrame("x", Buffer.from("null")), /wrong fields/],
      [encodeFrame("x"), /not JSON/],
    ]
    for (const [frame, message] of wrong) {
      const line = await running()
      line.stdout(frame)
      expect(await findingOf(line, line.run)).toMatch(message)
    }
  })

  it("gives the output before a forged greeting, and nothing after it", async () => {
    const line = await running()
    line.stdout(say.out("before"), say.ready({ ...FACTS, uid: 0 }), say.out("after"), say.exit(1))
    expect(await findingOf(line, line.run)).toMatch(/"R" while a block ran/)
    expect(line.output).toEqual(["stdout:before"])
    expect(line.agent.facts).toEqual(FACTS)
  })

  it("says which program is missing, and goes on", async () => {
    const { agent, run, ...line } = await running()
    line.stdout(say.failed({ op: "X", message: "No such program", program: "python3", id: 1 }))
    await expectFailure(run, "LANGUAGE_UNAVAILABLE", /python3: No such program/)
    expect(agent.lost.aborted).toBe(false)
    const second = agent.run({ argv: ["sh"], how: "exec", onOutput: () => {} })
    line.stdout(say.exit(2))
    await second
  })

  it("does one thing at a time", async () => {
    const { agent, run, ...line } = await running()
    const request = { argv: ["sh"], how: "exec", onOutput: () => {} } as const
    await expect(agent.run(request)).rejects.toThrow("one thing at a time")
    await expect(agent.collect({ maxFiles: 1, maxBytes: 1 })).rejects.toThrow("one thing at a time")
    expect(await stateOf(agent.whenIdle())).toBe("pending")
    // The one that was refused has no part in the count of runs.
    line.stdout(say.exit(1))
    await run
    await agent.whenIdle()
  })

  it("asks for the end of a block, and waits for it", async () => {
    const { agent, run, ...line } = await running()
    agent.kill()
    await line.heard((sent) => typesOf(sent) === "XK")
    expect(await stateOf(run)).toBe("pending")
    line.stdout(say.killed(1))
    expect(await run).toMatchObject({ signal: 9 })
  })
})

describe("FramedAgent, putting", () => {
  it("sends a file in frames of at most 1 MiB, with what it is", async () => {
    const { agent, ...line } = await greeted()
    const content = Buffer.alloc(2.5 * 1024 ** 2, "0123456789")
    await agent.put([file("big", content, true), file("empty", "")])
    agent.remove(["a", "b"])
    agent.ping()
    await line.heard((sent) => typesOf(sent).endsWith("N"))
    const frames = framesOf(line.sent())
    expect(typesOf(line.sent())).toBe("PDDPUN")
    expect(Math.max(...frames.map(({ payload }) => payload.length))).toBeLessThanOrEqual(1024 ** 2)
    const [put, ...more] = frames
    const headerLength = put!.payload.readUInt16BE(0)
    expect(JSON.parse(put!.payload.subarray(2, 2 + headerLength).toString())).toEqual({
      path: "big",
      mode: 0o755,
      size: content.length,
    })
    const parts = [put!.payload.subarray(2 + headerLength), more[0]!.payload, more[1]!.payload]
    expect(Buffer.concat(parts).equals(content)).toBe(true)
    expect(JSON.parse(frames[4]!.payload.toString())).toEqual({ paths: ["a", "b"] })
  })

  it("sends all of a file before what is asked for after it, although nobody waited", async () => {
    const { agent, ...line } = await greeted()
    const putting = agent.put([file("big", Buffer.alloc(2.5 * 1024 ** 2)), file("small", "1")])
    const run = agent.run({ argv: ["python3", "big"], how: "exec", onOutput: () => {} })
    await putting
    await line.heard((sent) => typesOf(sent).includes("X"))
    expect(typesOf(line.sent())).toBe("PDDPX")
    line.stdout(say.exit(1))
    await run
  })

  it("fails the run whose file could not be put, once the block has been ended", async () => {
    const line = await running()
    line.stdout(say.failed({ op: "P", path: "data.csv", message: "No space left on device" }))
    line.stdout(say.failed({ op: "D", path: "data.csv", message: "again" }))
    await line.heard((sent) => typesOf(sent).startsWith("XK"))
    expect(await stateOf(line.run)).toBe("pending")
    line.stdout(say.killed(1))
    await expectFailure(line.run, "WORKSPACE_FAILED", /data\.csv.*No space left on device.*limits\.workspace/)
    expect(line.agent.lost.aborted).toBe(false)
  })

  it("refuses the next run after a file that could not be put, and only that one", async () => {
    const { agent, ...line } = await greeted()
    line.stdout(say.failed({ op: "P", path: "a", message: "Is a directory" }))
    await turn()
    await turn()
    const request = { argv: ["sh"], how: "exec", onOutput: () => {} } as const
    await expectFailure(agent.run(request), "WORKSPACE_FAILED", /Is a directory/)
    const run = agent.run(request)
    await line.heard((sent) => typesOf(sent) === "X")
    line.stdout(say.exit(JSON.parse(framesOf(line.sent())[0]!.payload.toString()).id as number))
    await run
  })
})

describe("FramedAgent, collecting", () => {
  it("gives files, their content over several frames, and what is gone", async () => {
    const { collect, ...line } = await collecting()
    line.stdout(say.file("a/b", 6, 0o755), say.data("abc"), say.data("de"))
    line.stdout(say.data("f"), say.file("empty", 0), say.gone("old"), say.collected())
    expect(await collect).toEqual({
      files: [file("a/b", "abcdef", true), file("empty", "")],
      removed: ["old"],
      over: false,
    })
    expect(JSON.parse(framesOf(line.sent())[0]!.payload.toString())).toEqual({ maxFiles: 3, maxBytes: 100 })
  })

  it("keeps content that does not change when the connection's memory is used again", async () => {
    const { collect, ...line } = await collecting()
    const frame = say.data("abc")
    line.stdout(say.file("a", 3))
    line.stdout(frame, say.collected())
    const { files } = await collect
    frame.fill(0)
    expect(Buffer.from(files[0]!.content).toString()).toBe("abc")
  })

  it("leaves behind names that no workspace takes, and says that something is missing", async () => {
    const bad = ["../up", "/etc/passwd", "a/../../b", "new\nline", "C:x", "", "back\\slash"]
    for (const path of bad) {
      const { collect, ...line } = await collecting()
      line.stdout(say.file(path, 3), say.data("abc"), say.file("fine", 0), say.gone(path), say.collected())
      expect(await collect).toEqual({ files: [file("fine", "")], removed: [], over: true })
    }
  })

  it("says that a limit cut it short when the agent says so", async () => {
    const { collect, ...line } = await collecting()
    line.stdout(say.collected(true))
    expect(await collect).toEqual({ files: [], removed: [], over: true })
  })

  it("refuses more files, more bytes, and other content than was said", async () => {
    const tooMany = Array.from({ length: 4 }, (_, index) => say.file(`f${index}`, 0))
    const wrong: [Buffer[], RegExp][] = [
      [tooMany, /more files than were asked for/],
      [[say.file("a", 101)], /more files than were asked for/],
      [[say.file("a", 60), say.data("x".repeat(60)), say.file("b", 41)], /more files than were asked for/],
      [[say.file("a", 2 ** 52)], /more files than were asked for/],
      [[say.file("../refused", 101)], /more files than were asked for/],
      [[say.file("a", 3), say.data("abcd")], /longer than it said/],
      [[say.file("a", 3), say.data("")], /longer than it said/],
      [[say.file("a", 0), say.data("x")], /"d" while files were collected/],
      [[say.file("a", -1)], /wrong fields/],
      [[say.file("a", 1.5)], /wrong fields/],
      [[say.file("a", 0, 0o100_644)], /wrong fields/],
      [[say.file("a", 3), say.file("b", 1)], /"f" within a file/],
      [[say.file("a", 3), say.collected()], /"c" within a file/],
      [[say.file("a", 3), say.gone("b")], /"v" within a file/],
    ]
    for (const [frames, message] of wrong) {
      const line = await collecting()
      line.stdout(...frames)
      expect(await findingOf(line, line.collect)).toMatch(message)
    }
  })

  it("refuses a list of removed files without end", async () => {
    const line = await collecting({ maxFiles: 1, maxBytes: 1 })
    line.stdout(...Array.from({ length: 1011 }, () => say.gone("a")))
    expect(await findingOf(line, line.collect)).toMatch(/too many removed files/)
  })
})

describe("FramedAgent, against a sandbox that misbehaves", () => {
  const expected: Readonly<Record<string, readonly string[]>> = {
    idle: [],
    running: ["o", "e", "x"],
    collecting: ["f", "v", "c", "!C"],
  }

  for (const [state, allowed] of Object.entries(expected)) {
    it(`finds out every frame that does not belong, while ${state}`, async () => {
      for (const [name, frame] of Object.entries(EVERY_ANSWER)) {
        if (allowed.includes(name)) continue
        const line: Greeted & { work?: Promise<unknown> } =
          state === "idle" ? await greeted() : state === "running" ? await running() : await collecting()
        const work = "run" in line ? (line.run as Promise<unknown>) : undefined
        const other = "collect" in line ? (line.collect as Promise<unknown>) : undefined
        line.stdout(frame)
        for (let count = 0; count < 50 && !line.agent.lost.aborted; count += 1) await turn()
        expect([name, line.agent.lost.aborted]).toEqual([name, true])
        expect(GloveboxError.is(line.agent.lost.reason, "SANDBOX_BROKEN")).toBe(true)
        const pending = work ?? other
        if (pending) await expectFailure(pending, "SANDBOX_BROKEN")
        expect(line.isClosed()).toBe(true)
      }
    })
  }

  it("loses the sandbox when the connection ends, whatever it was doing", async () => {
    const idle = await greeted()
    const run = await running()
    const collect = await collecting()
    const within = await collecting()
    within.stdout(say.file("a", 9), say.data("abc"))
    const half = await running()
    half.stdout(say.out("partial"), say.exit(1).subarray(0, 7))
    for (const line of [idle, run, collect, within, half]) line.end()
    await expectFailure(run.run, "SANDBOX_LOST", /ended before its work was done/)
    await expectFailure(half.run, "SANDBOX_LOST")
    await expectFailure(collect.collect, "SANDBOX_LOST")
    await expectFailure(within.collect, "SANDBOX_LOST")
    for (let count = 0; count < 50 && !idle.agent.lost.aborted; count += 1) await turn()
    for (const { agent } of [idle, run, collect, within, half]) {
      expect(GloveboxError.is(agent.lost.reason, "SANDBOX_LOST")).toBe(true)
      await agent.whenIdle()
      await agent.put([file("a", "b")])
      agent.remove(["a"])
      agent.kill()
      agent.ping()
      await expectFailure(agent.run({ argv: ["sh"], how: "exec", onOutput: () => {} }), "SANDBOX_LOST")
    }
    expect(half.output).toEqual(["stdout:partial"])
  })

  it("ends what runs when the host itself closes it", async () => {
    const line = await running()
    line.agent.close()
    await expectFailure(line.run, "SANDBOX_LOST")
    expect(line.isClosed()).toBe(true)
  })

  it("settles everything, and throws nothing elsewhere, whatever frames come", async () => {
    const frame = fc.oneof(
      fc.constantFrom(...Object.values(EVERY_ANSWER)),
      fc.constantFrom(
        say.exit(2),
        say.file("b", 0),
        say.file("../c", 1),
        say.failed({ op: "P", message: "m" }),
      ),
      fc
        .tuple(
          fc.constantFrom(...Object.keys(EVERY_ANSWER).map((name) => name.slice(0, 1))),
          fc.uint8Array({ maxLength: 8 }),
        )
        .map(([type, bytes]) => encodeFrame(type, Buffer.from(bytes))),
      fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
    )
    const begin = fc.constantFrom("run", "collect", "put", "kill")
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(begin, fc.array(frame, { maxLength: 3 })), { maxLength: 4 }),
        async (steps) => {
          const line = await greeted()
          const all: Promise<unknown>[] = []
          for (const [what, frames] of steps) {
            if (what === "run") all.push(line.agent.run({ argv: ["sh"], how: "exec", onOutput: () => {} }))
            else if (what === "collect") all.push(line.agent.collect({ maxFiles: 2, maxBytes: 4 }))
            else if (what === "put") all.push(line.agent.put([file("a", "b")]))
            else line.agent.kill()
            for (const work of all) work.catch(() => {})
            line.stdout(...frames)
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
          for (let count = 0; count < 50 && !line.agent.lost.aborted; count += 1) await turn()
          expect(line.agent.lost.aborted).toBe(true)
        },
      ),
      { numRuns: 40 },
    )
  })

  it("holds the sandbox's output back while it is paused", async () => {
    const line = await running()
    line.agent.pause()
    line.stdout(say.out("a"), say.exit(1))
    expect(await stateOf(line.run)).toBe("pending")
    expect(line.output).toEqual([])
    line.agent.resume()
    await line.run
    expect(line.output).toEqual(["stdout:a"])
  })
})
