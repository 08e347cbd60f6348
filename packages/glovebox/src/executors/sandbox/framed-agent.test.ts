import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { encodeFrame, encodeJsonFrame } from "./agent-frames.ts"
import { FACTS, agentLine, say, stateOf } from "./agent-line.test-kit.ts"
import { FramedAgent } from "./framed-agent.ts"
import { framesOf, typesOf, greeted, running, findingOf, EVERY_ANSWER } from "./framed-agent.test-kit.ts"

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
