import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { GloveboxError } from "../../core/index.ts"
import { encodeFrame } from "./agent-frames.ts"
import { say, stateOf, turn } from "./agent-line.test-kit.ts"
import type { Greeted } from "./framed-agent.test-kit.ts"
import {
  framesOf,
  typesOf,
  greeted,
  running,
  collecting,
  file,
  findingOf,
  EVERY_ANSWER,
} from "./framed-agent.test-kit.ts"

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
