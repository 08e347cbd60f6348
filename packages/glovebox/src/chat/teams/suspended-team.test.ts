import { beforeEach, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { gate as gateOf } from "../../core/gate.test-kit.ts"
import { GloveboxError, type JsonObject } from "../../core/index.ts"
import { ApprovalGate } from "../../governance/approval/index.ts"
import { Clerk, type Office, USAGE, approve, lines, moveTo } from "../clerk.test-kit.ts"
import {
  ExternalTermination,
  MaxMessageTermination,
  TimeoutTermination,
  TokenUsageTermination,
} from "../conditions/index.ts"
import { ScriptedAgent } from "../scripted-agent.test-kit.ts"
import { RoundRobinGroupChat, type TeamOptions } from "./index.ts"

let ledger: string[] = []

beforeEach(() => {
  ledger = []
})

/** A clerk who has to ask, and a helper after it. */
function office(options: TeamOptions = {}): Office<RoundRobinGroupChat> & { readonly clerk: Clerk } {
  const gate = new ApprovalGate({ suspend: true })
  const clerk = new Clerk("clerk", gate, (line) => ledger.push(line))
  const helper = new ScriptedAgent("helper")
  return {
    gate,
    clerk,
    runner: new RoundRobinGroupChat({ participants: [clerk, helper], maxTurns: 2, ...options }),
  }
}

describe("a team that waits for an approval", () => {
  it("asks who waited with the same messages, and as one that was asked before", async () => {
    const { runner, gate, clerk } = office()
    await using team = runner
    const begun = await team.run("tidy up")
    approve(gate, begun)
    await team.run()
    expect(clerk.asked).toEqual(["tidy up", "again tidy up"])
  })

  it("tells in its stream what is new, and counts all usage once", async () => {
    const { runner, gate } = office()
    await using team = runner
    const begun = await team.run("tidy up")
    approve(gate, begun)
    const told: string[] = []
    for await (const item of team.runStream()) told.push(item.type)
    expect(begun.usage).toEqual(USAGE)
    expect(told).toEqual(["TextMessage", "TextMessage", "TaskResult"])
    const { thread } = await team.saveState()
    expect(thread).toHaveLength(4)
  })

  it("tells nothing twice of an agent that does", async () => {
    const gate = new ApprovalGate({ suspend: true })
    const clerk = new Clerk("clerk", gate, (line) => ledger.push(line), { tellsAgain: true })
    await using team = new RoundRobinGroupChat({ participants: [clerk], maxTurns: 1 })
    const begun = await team.run("tidy up")
    const still = await team.run()
    approve(gate, begun)
    const ended = await team.run()
    expect([begun, still, ended].map(lines)).toEqual([
      ["user: tidy up", "clerk: clerk has a plan"],
      [],
      ["clerk: clerk did it"],
    ])
    expect(ended.usage.promptTokens).toBe(0)
    const { thread } = await team.saveState()
    expect(thread).toHaveLength(3)
  })

  it("goes on when it is denied, and hears that", async () => {
    const { runner, gate } = office()
    await using team = runner
    const { pending: [id = ""] = [] } = await team.run("tidy up")
    gate.answer(id, { decision: "deny", reason: "not today" })
    expect(lines(await team.run())).toEqual(["clerk: clerk may not: not today", "helper: helper1"])
    expect(ledger).toEqual(["clerk thinks of tidy up"])
  })

  it("counts a message once for its condition", async () => {
    // The task, what the clerk thinks and says, and the helper: four.
    const atMost = (): TeamOptions => ({
      terminationCondition: new MaxMessageTermination({ maxMessages: 4, includeAgentEvent: true }),
      maxTurns: 3,
    })
    const first = office(atMost())
    await using team = first.runner
    const begun = await team.run("tidy up")
    const second = office(atMost())
    await using other = second.runner
    await moveTo(first, second)
    await other.run()
    approve(second.gate, begun)
    const ended = await other.run()
    expect(ended.stopKind).toBe("condition")
    expect(lines(ended)).toEqual(["clerk: clerk did it", "helper: helper1"])
  })

  it("tells its condition all tokens, those before the wait too", async () => {
    const atMost = (): TeamOptions => ({
      terminationCondition: new TokenUsageTermination({ maxTotalToken: 11 }),
    })
    const first = office(atMost())
    await using team = first.runner
    const begun = await team.run("tidy up")
    const second = office(atMost())
    await using other = second.runner
    await moveTo(first, second)
    approve(second.gate, begun)
    expect(lines(await other.run())).toEqual(["clerk: clerk did it"])
  })

  it("does not count the time that it waits", async () => {
    const first = office({ terminationCondition: new TimeoutTermination("1h") })
    await using team = first.runner
    await team.run("tidy up")
    const saved = await team.saveState()
    const elapsed = (state: object): unknown => JSON.parse(JSON.stringify(state)).condition.counted.elapsedMs
    expect(elapsed(saved)).toBeGreaterThan(0)
    expect(elapsed(await team.saveState())).toBe(elapsed(saved))
  })

  it("ends after the turn when a stop was asked for meanwhile", async () => {
    const stop = new ExternalTermination()
    const { runner, gate } = office({ terminationCondition: stop })
    await using team = runner
    const begun = await team.run("tidy up")
    stop.set()
    approve(gate, begun)
    const ended = await team.run()
    expect(ended.stopKind).toBe("condition")
    expect(lines(ended)).toEqual(["clerk: clerk did it"])
    expect(lines(await team.run())).toEqual(["helper: helper1", "clerk: clerk has a plan"])
  })

  it("hears another task, and those who waited go on first", async () => {
    const { runner, gate } = office()
    await using team = runner
    const begun = await team.run("tidy up")
    approve(gate, begun)
    const ended = await team.run("and hurry")
    expect(lines(ended)).toEqual(["user: and hurry", "clerk: clerk did it", "helper: helper1"])
    expect(ledger).toEqual(["clerk thinks of tidy up", "clerk acts"])
  })

  it("rests while it is paused, and goes on when it is resumed", async () => {
    const { runner, gate, clerk } = office()
    await using team = runner
    const begun = await team.run("tidy up")
    await team.pause()
    approve(gate, begun)
    const going = team.run()
    await team.saveState()
    expect(clerk.asked).toHaveLength(1)
    await team.resume()
    expect(lines(await going)).toEqual(["clerk: clerk did it", "helper: helper1"])
  })

  it("still waits after a run that was aborted", async () => {
    const { runner, gate } = office()
    await using team = runner
    const begun = await team.run("tidy up")
    const controller = new AbortController()
    await team.pause()
    const going = team.run(undefined, { signal: controller.signal })
    controller.abort(new Error("enough"))
    await expect(going).rejects.toThrow("enough")
    await team.resume()
    approve(gate, begun)
    expect(lines(await team.run())).toEqual(["clerk: clerk did it", "helper: helper1"])
    expect(ledger).toEqual(["clerk thinks of tidy up", "clerk acts"])
  })

  it("asks anew for what was withdrawn by an abort in the middle of the turn", async () => {
    const began = gateOf()
    // No answer, then none for ever, then none again.
    const looks = [undefined, new Promise<never>(() => {}), undefined]
    const peek = async (): Promise<unknown> => {
      if (looks.length === 2) began.open()
      return looks.shift()
    }
    const provider = { name: "slow", ask: async (): Promise<unknown> => undefined, peek }
    const gate = new ApprovalGate({ suspend: true, provider })
    const clerk = new Clerk("clerk", gate, (line) => ledger.push(line))
    await using team = new RoundRobinGroupChat({ participants: [clerk], maxTurns: 1 })
    const begun = await team.run("tidy up")
    const controller = new AbortController()
    const going = team.run(undefined, { signal: controller.signal })
    await began.promise
    controller.abort(new Error("enough"))
    await expect(going).rejects.toThrow("enough")
    const again = await team.run()
    expect(again.pending).not.toEqual(begun.pending)
    approve(gate, again)
    expect(lines(await team.run())).toEqual(["clerk: clerk did it"])
    expect(ledger).toEqual(["clerk thinks of tidy up", "clerk acts"])
  })

  it("forgets it with reset, and the request stays with the gate", async () => {
    const { runner, gate } = office()
    await using team = runner
    const begun = await team.run("tidy up")
    await team.reset()
    expect(gate.pending().map(({ id }) => id)).toEqual(begun.pending)
    const anew = await team.run("sweep")
    expect(lines(anew)).toEqual(["user: sweep", "clerk: clerk has a plan"])
    expect(anew.pending).not.toEqual(begun.pending)
  })

  it("takes an error of another kind for one", async () => {
    const broken = new ScriptedAgent("broken", () => {
      throw new GloveboxError("APPROVAL_DENIED", "no")
    })
    await using team = new RoundRobinGroupChat({ participants: [broken] })
    await expectFailure(team.run("x"), "AGENT_FAILED")
  })

  it("refuses a state that does not fit together", async () => {
    const { runner } = office()
    await using team = runner
    await team.run("tidy up")
    const state = await team.saveState()
    const wrongs: readonly JsonObject[] = [
      { held: {} },
      { held: { clerk: 9 } },
      { suspended: [] },
      { suspended: [{ speaker: "clerk", items: [], said: ["unknown"], pending: [] }] },
      { suspended: [{ speaker: "stranger", items: [], said: [], pending: [] }], held: { stranger: 1 } },
    ]
    for (const wrong of wrongs) {
      await expectFailure(team.loadState({ ...state, ...wrong }), "STATE_INVALID")
    }
    expect(await team.saveState()).toEqual(state)
  })

  it("reads a state of before there were such turns", async () => {
    await using team = office().runner
    const { held: _held, suspended: _suspended, unseen: _unseen, ...old } = await team.saveState()
    await team.loadState(old)
    expect((await team.run("tidy up")).stopKind).toBe("suspended")
  })

  it("lets a checkpoint be taken by who reads its stream", async () => {
    const { runner } = office()
    await using team = runner
    let saved: Promise<JsonObject> | undefined
    for await (const item of team.runStream("tidy up")) {
      if (item.type === "ThoughtEvent") saved = team.saveState()
    }
    expect(await saved).toMatchObject({ suspended: [{ speaker: "clerk" }], turns: 1 })
  })
})
