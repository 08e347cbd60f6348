import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { GloveboxError } from "../../core/index.ts"
import { agentLine, stateOf, turn } from "../sandbox/agent-line.test-kit.ts"
import { LineAgent } from "./line-agent.ts"
import { greeted, markerOf, running, file, plenty } from "./line-agent.test-kit.ts"

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
