import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import { type JsonObject, SingleThreadedAgentRuntime } from "../../core/index.ts"
import { SocietyOfMindAgent } from "../agents/index.ts"
import { MaxMessageTermination } from "../conditions/index.ts"
import { ReplayChatCompletionClient } from "../../models/replay/index.ts"
import { toText } from "../messages/index.ts"
import { ScriptedAgent } from "../scripted-agent.test-kit.ts"
import { type Participant, RoundRobinGroupChat } from "./index.ts"

const texts = (messages: readonly { readonly type: string }[]): string[] =>
  messages.map((message) => toText(message as never))

function roundRobin(participants: readonly Participant[], maxTurns = 2, name = "team"): RoundRobinGroupChat {
  return new RoundRobinGroupChat({ name, participants, maxTurns })
}

/** An agent whose saving and loading can be held up. */
class SlowAgent extends ScriptedAgent {
  wait: Promise<void> | undefined

  override async saveState(): Promise<JsonObject> {
    const state = await super.saveState()
    await this.wait
    return state
  }

  override async loadState(state: JsonObject): Promise<void> {
    await super.loadState(state)
    await this.wait
  }
}

describe("pause and resume", () => {
  it("leave the process to others while the team rests", async () => {
    await using team = roundRobin([new ScriptedAgent("a")])
    await team.pause()
    const run = team.run("hi")
    await new Promise((resolve) => {
      setTimeout(resolve, 1)
    })
    await team.resume()
    expect(texts((await run).messages)).toEqual(["hi", "a1", "a2"])
  })

  it("reach every agent in the order of the calls, awaited or not", async () => {
    const agents = ["a", "b", "c"].map((name) => new ScriptedAgent(name))
    await using team = roundRobin(agents)
    await Promise.all([team.pause(), team.resume(), team.pause(), team.resume()])
    for (const { calls } of agents) expect(calls).toEqual(["pause", "resume", "pause", "resume"])
    expect(texts((await team.run("hi")).messages)).toEqual(["hi", "a1", "b1"])
  })

  it("are done with an agent that fails at it too, which the caller is told", async () => {
    const failing = new (class extends ScriptedAgent {
      override async onPause(): Promise<void> {
        throw new Error("no pause")
      }
      override async onResume(): Promise<void> {
        throw new Error("no resume")
      }
    })("a")
    const b = new ScriptedAgent("b")
    await using team = roundRobin([failing, b])
    await expect(team.pause()).rejects.toThrow("no pause")
    await expect(team.resume()).rejects.toThrow("no resume")
    expect(b.calls).toEqual(["pause", "resume"])
    expect(texts((await team.run("hi")).messages)).toEqual(["hi", "a1", "b1"])
  })

  it.each([
    ["a team", (inner: RoundRobinGroupChat): Participant => inner],
    [
      "a society",
      (inner: RoundRobinGroupChat): Participant =>
        new SocietyOfMindAgent({
          name: "society",
          team: inner,
          modelClient: new ReplayChatCompletionClient(["done"]),
        }),
    ],
  ])("let a checkpoint be taken when %s is in the middle of its turn", async (_what, wrap) => {
    const began = gate()
    const hold = gate()
    const a = new ScriptedAgent("a", async ({ turn }) => {
      began.open()
      await hold.promise
      return `a${turn}`
    })
    await using inner = roundRobin([a], 3, "inner")
    await using outer = roundRobin([wrap(inner)], 1)
    const run = outer.run("hi")
    await began.promise
    await outer.pause()
    hold.open()
    expect(await outer.saveState()).toMatchObject({ turns: 1, unheard: [] })
    // It went on for that, and is paused again.
    expect(a.calls).toContain("resume")
    await outer.resume()
    expect((await run).stopKind).toBe("max-turns")
  })
})

describe("calls that change a team", () => {
  it("are one at a time", async () => {
    const a = new SlowAgent("a")
    await using team = roundRobin([a])
    await team.run("hi")
    const state = await team.saveState()
    const hold = gate()
    a.wait = hold.promise
    const loading = team.loadState(state)
    await expectFailure(team.run("other"), "RUN_ACTIVE", /loadState/)
    await expectFailure(team.reset(), "RUN_ACTIVE", /loadState/)
    await expectFailure(team.loadState(state), "RUN_ACTIVE", /loadState/)
    hold.open()
    await loading
    expect(await team.saveState()).toEqual(state)
    const resetting = team.reset()
    await expectFailure(team.run("other"), "RUN_ACTIVE", /reset/)
    await resetting
    expect(texts((await team.run("again")).messages)).toEqual(["again", "a1", "a2"])
  })

  it("are not seen half done by a checkpoint", async () => {
    const [first, second] = [new SlowAgent("a"), new ScriptedAgent("b")]
    await using team = roundRobin([first, second])
    await team.run("hi")
    const state = await team.saveState()
    await team.run("more")
    const hold = gate()
    first.wait = hold.promise
    const loading = team.loadState(state)
    const saving = team.saveState()
    hold.open()
    await loading
    expect(await saving).toEqual(state)
  })

  it("wait for a checkpoint that is being taken", async () => {
    const a = new SlowAgent("a")
    await using team = new RoundRobinGroupChat({
      participants: [a],
      terminationCondition: new MaxMessageTermination(2),
    })
    const before = await team.saveState()
    const hold = gate()
    a.wait = hold.promise
    const saving = team.saveState()
    const run = team.run("hi")
    hold.open()
    expect(await saving).toEqual(before)
    expect(texts((await run).messages)).toEqual(["hi", "a1"])
  })
})

describe("a team's state", () => {
  it("that can neither be restored nor be put back is told as one error", async () => {
    const stubborn = new (class extends ScriptedAgent {
      override async loadState(): Promise<void> {
        throw new Error("never")
      }
    })("a")
    await using team = roundRobin([stubborn])
    await expectFailure(team.loadState(await team.saveState()), "STATE_INVALID", /never; nor can/)
  })

  it.each([
    [{ told: { a: 99, b: 0 } }, /how much each participant has heard/],
    [{ told: {} }, /how much each participant has heard/],
    [
      {
        told: { a: 0, b: 0 },
        said: [{ message: { type: "ThoughtEvent", source: "a", content: "hm" }, by: "a" }],
      },
      /ThoughtEvent, which nobody says/,
    ],
  ])("is refused when it was tampered with: %j", async (change, problem) => {
    await using team = roundRobin([new ScriptedAgent("a"), new ScriptedAgent("b")])
    await team.run("hi")
    const state = await team.saveState()
    await expectFailure(team.loadState({ ...state, ...change }), "STATE_INVALID", problem)
    expect(await team.saveState()).toEqual(state)
  })
})

describe("close", () => {
  it("works after the runtime that was given is closed", async () => {
    const runtime = new SingleThreadedAgentRuntime()
    runtime.start()
    const team = new RoundRobinGroupChat({ participants: [new ScriptedAgent("a")], maxTurns: 1, runtime })
    await team.run("hi")
    await runtime.close()
    await team.close()
    await expect(team.close()).resolves.toBeUndefined()
  })
})
