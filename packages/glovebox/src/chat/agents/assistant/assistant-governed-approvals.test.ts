import { describe, expect, it } from "vitest"
import { verifyAuditLog } from "../../../governance/index.ts"
import { answerText } from "../../task/index.ts"
import { OfficePlace } from "./assistant-governance.test-kit.ts"
import { call, resultsOf, shown } from "./assistant.test-kit.ts"

const PAY = call("pay", { euros: 7 }, "call-7")

describe("an assistant behind governance whose approvals are files", () => {
  it("goes on in another process, which has the same call to make", async () => {
    await using place = await OfficePlace.make()
    const first = place.open([[PAY]])
    await place.answer(await first.assistant.run("Pay it."))
    const second = await place.move(first, ["It is paid."])
    const result = await second.assistant.run()
    expect(resultsOf(result)).toEqual([{ callId: "call-7", name: "pay", content: "paid 7", isError: false }])
    expect(answerText(result)).toBe("It is paid.")
    expect(shown(second.modelClient, 0)).toHaveLength(3)
    expect(place.paid).toEqual([7])
    expect(await verifyAuditLog(place.folder.path)).toMatchObject({ ok: true })
    // Nothing of it is left to be done once more.
    expect(await second.assistant.saveState()).not.toHaveProperty("suspended")
  })

  it("does not make a call that a process before it made", async () => {
    await using place = await OfficePlace.make()
    const first = place.open([[PAY], "It is paid."])
    const result = await first.assistant.run("Pay it.")
    const [state, approvals] = [await first.assistant.saveState(), await first.governance.saveState()]
    await place.answer(result)
    await first.assistant.run()
    await first.governance.close()
    const second = place.open(["I may not."])
    await second.assistant.loadState(state)
    second.governance.loadState(approvals)
    expect(answerText(await second.assistant.run())).toBe("I may not.")
    expect(place.paid).toEqual([7])
  })

  it("tells its model of a denial, as an answer", async () => {
    await using place = await OfficePlace.make()
    const { assistant, modelClient } = place.open([[PAY], "I may not."])
    await place.answer(await assistant.run("Pay it."), { decision: "deny", reason: "The budget is spent." })
    const last = await assistant.run()
    const content: unknown = expect.stringContaining("The budget is spent.")
    expect(resultsOf(last)).toEqual([{ callId: "call-7", name: "pay", content, isError: true }])
    expect(answerText(last)).toBe("I may not.")
    expect(modelClient.createCalls).toHaveLength(2)
    expect(place.paid).toEqual([])
  })

  it("does what was approved instead", async () => {
    await using place = await OfficePlace.make()
    const { assistant } = place.open([[PAY], "Some of it is paid."])
    const payload = { tool: "pay", arguments: { euros: 5 } }
    await place.answer(await assistant.run("Pay it."), { decision: "edit", payload, by: "ann" })
    expect(resultsOf(await assistant.run())).toMatchObject([{ content: "paid 5" }])
    expect(place.paid).toEqual([5])
  })

  it("asks anew where the time to answer is over", async () => {
    await using place = await OfficePlace.make()
    let now = Date.now()
    const gate = { expiresIn: "1h", clock: () => now }
    const { assistant } = place.open([[PAY], "It is paid."], { gate })
    const first = await assistant.run("Pay it.")
    await place.answer(first)
    now += 2 * 3_600_000
    const second = await assistant.run()
    expect(second.stopKind).toBe("suspended")
    expect(second.pending).not.toEqual(first.pending)
    expect(place.paid).toEqual([])
    await place.answer(second)
    expect(answerText(await assistant.run())).toBe("It is paid.")
    expect(place.paid).toEqual([7])
  })
})
