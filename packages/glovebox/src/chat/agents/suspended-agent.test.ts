import { beforeEach, describe, expect, it } from "vitest"
import { ApprovalGate } from "../../governance/approval/index.ts"
import { Clerk, type Office, USAGE, approve, lines, moveTo } from "../clerk.test-kit.ts"
import { type TaskResult, answerText } from "../task/index.ts"
import { MessageFilterAgent } from "./message-filter-agent.ts"

let ledger: string[] = []

beforeEach(() => {
  ledger = []
})

function office(): Office<Clerk> {
  const gate = new ApprovalGate({ suspend: true })
  return { gate, runner: new Clerk("clerk", gate, (line) => ledger.push(line)) }
}

describe("an agent that waits for an approval", () => {
  it("ends its run with what was done until then, and the ids to answer", async () => {
    const { gate, runner } = office()
    const items: unknown[] = []
    let result: TaskResult | undefined
    for await (const item of runner.runStream("tidy up")) {
      items.push(item.type)
      if (item.type === "TaskResult") result = item
    }
    const [request] = gate.pending()
    expect(items).toEqual(["TextMessage", "ThoughtEvent", "TaskResult"])
    expect(result).toMatchObject({
      stopKind: "suspended",
      stopReason: `clerk waits for approval ${request?.id}.`,
      pending: [request?.id],
      usage: USAGE,
    })
    expect(answerText(result ?? { messages: [] })).toBe("")
  })

  it("goes on without a task, as often as it takes, and does nothing twice", async () => {
    const { gate, runner } = office()
    const first = await runner.run("tidy up")
    const second = await runner.run()
    expect(second).toMatchObject({ stopKind: "suspended", pending: first.pending, messages: [] })
    approve(gate, second)
    const last = await runner.run()
    expect(lines(last)).toEqual(["clerk: clerk did it"])
    expect(last).toMatchObject({ stopKind: "answer", usage: { promptTokens: 0 } })
    expect(last.pending).toBeUndefined()
    expect(ledger).toEqual(["clerk thinks of tidy up", "clerk acts"])
  })

  it("goes on in another process", async () => {
    const first = office()
    const result = await first.runner.run("tidy up")
    const second = await moveTo(first, office())
    approve(second.gate, result)
    expect(answerText(await second.runner.run())).toBe("clerk did it")
    expect(ledger).toEqual(["clerk thinks of tidy up", "clerk acts"])
  })

  it("answers with a denial, and the run is at its end", async () => {
    const { gate, runner } = office()
    const { pending: [id = ""] = [] } = await runner.run("tidy up")
    gate.answer(id, { decision: "deny", reason: "not today" })
    expect(answerText(await runner.run())).toBe("clerk may not: not today")
    expect(ledger).toEqual(["clerk thinks of tidy up"])
  })

  it("asks anew for what has expired", async () => {
    let now = 0
    const gate = new ApprovalGate({ suspend: true, expiresIn: "1h", clock: () => now })
    const runner = new Clerk("clerk", gate, (line) => ledger.push(line))
    const first = await runner.run("tidy up")
    now = 2 * 3_600_000
    const second = await runner.run()
    expect(second.stopKind).toBe("suspended")
    expect(second.pending).not.toEqual(first.pending)
    approve(gate, second)
    expect(answerText(await runner.run())).toBe("clerk did it")
    expect(ledger).toEqual(["clerk thinks of tidy up", "clerk acts"])
  })

  it("rejects with the reason of its signal, and still waits", async () => {
    const { gate, runner } = office()
    const result = await runner.run("tidy up")
    await expect(runner.run(undefined, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow(
      "enough",
    )
    approve(gate, result)
    expect(answerText(await runner.run())).toBe("clerk did it")
  })

  it("is the same behind a MessageFilterAgent", async () => {
    const filtered = (): Office<MessageFilterAgent> => {
      const { gate, runner: wrappedAgent } = office()
      const filter = { perSource: [{ source: "user" }] }
      return { gate, runner: new MessageFilterAgent({ wrappedAgent, filter }) }
    }
    const first = filtered()
    const result = await first.runner.run("tidy up")
    expect(result.stopKind).toBe("suspended")
    const second = await moveTo(first, filtered())
    approve(second.gate, result)
    expect(answerText(await second.runner.run())).toBe("clerk did it")
    expect(ledger).toEqual(["clerk thinks of tidy up", "clerk acts"])
  })
})
