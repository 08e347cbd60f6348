import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import {
  type ApprovalProvider,
  FileApprovalQueue,
  answerApproval,
  listApprovals,
} from "../../../governance/index.ts"
import { ReplayChatCompletionClient } from "../../../models/replay/index.ts"
import { answerText } from "../../task/index.ts"
import { Desk, payTool } from "./assistant-suspended.test-kit.ts"
import { call, forever, openCalls, resultsOf, shown, toolThat } from "./assistant.test-kit.ts"
import { AssistantAgent } from "./index.ts"

const PAY = call("pay", { euros: 7 }, "call-7")

/** A provider that cannot be reached for a while. */
class Line implements ApprovalProvider {
  readonly name = "line"
  isDead = false
  #onDead: () => void = () => {}
  /** Resolves when somebody waits for it in vain. */
  readonly asked = new Promise<void>((resolve) => {
    this.#onDead = resolve
  })

  ask(): Promise<never> {
    return forever()
  }

  async peek(): Promise<undefined> {
    if (!this.isDead) return undefined
    this.#onDead()
    return forever()
  }
}

describe("a turn that goes on after a wait, and is cancelled", () => {
  it("waits on for what was not answered yet, and its model is not asked again", async () => {
    const line = new Line()
    const desk = new Desk([[PAY], "It is paid."], { gate: { provider: line } })
    const { assistant, modelClient } = desk
    await assistant.run("Pay it.")
    line.isDead = true
    const cancel = new AbortController()
    const running = assistant.run("And hurry.", { signal: cancel.signal })
    await line.asked
    cancel.abort("enough")
    await expect(running).rejects.toBe("enough")

    line.isDead = false
    const waiting = await assistant.run()
    expect(waiting).toMatchObject({ stopKind: "suspended", pending: [expect.any(String)], messages: [] })
    desk.answer(waiting)
    expect(answerText(await assistant.run())).toBe("It is paid.")
    expect(desk.paid).toEqual([7])
    expect(modelClient.createCalls).toHaveLength(2)
    expect(shown(modelClient, 1).at(-1)).toMatchObject({ content: "And hurry." })
  })

  it("says of a call that had begun that nobody knows, and waits on for the others", async () => {
    const cancel = new AbortController()
    const paid: number[] = []
    const begun = toolThat("begin", () => {
      cancel.abort("enough")
      return forever()
    })
    const options = { tools: [payTool(paid), begun], parallelToolCalls: false }
    const calls = [PAY, call("begin"), call("pay", { euros: 8 }, "call-8")]
    const desk = new Desk([calls, "One is not known."], options)
    const { assistant, modelClient } = desk
    desk.answer(await assistant.run("Pay them."))
    await expect(assistant.run(undefined, { signal: cancel.signal })).rejects.toBe("enough")
    desk.answer(await assistant.run())
    const last = await assistant.run()
    expect(resultsOf(last).map(({ content }) => content)).toEqual([
      "paid 7",
      expect.stringMatching(/cancelled.*not known/u),
      "paid 8",
    ])
    expect(openCalls(shown(modelClient, 1))).toEqual([])
  })

  it("is saved in the middle with what has ended, and that is not done again", async () => {
    const paid: number[] = []
    let letGo = (): void => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    let onBegun = (): void => {}
    const begun = new Promise<void>((resolve) => {
      onBegun = resolve
    })
    const slow = toolThat("slow", async () => {
      onBegun()
      await held
    })
    const options = { tools: [payTool(paid), slow], parallelToolCalls: false }
    const desk = new Desk([[PAY, call("slow")], "Done."], options, paid)
    desk.answer(await desk.assistant.run("Pay it."))
    const running = desk.assistant.run()
    await begun
    const other = await desk.move(["Done."], options)
    letGo()
    await running
    expect(answerText(await other.assistant.run())).toBe("Done.")
    expect(paid).toEqual([7])
  })
})

describe("a state with calls that wait for approvals", () => {
  it("is refused by an agent that asks nobody, which stays as it is", async () => {
    const desk = new Desk([[PAY]])
    await desk.assistant.run("Pay it.")
    const modelClient = new ReplayChatCompletionClient(["Hello."])
    const other = new AssistantAgent({ name: "clerk", modelClient, tools: [payTool(desk.paid)] })
    await expectFailure(other.loadState(await desk.assistant.saveState()), "STATE_INVALID")
    expect(answerText(await other.run("Hi."))).toBe("Hello.")
  })

  it("runs once where two go on from it, and the other is told that it may have been done", async () => {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-once-"))
    try {
      const gate = { provider: new FileApprovalQueue({ folder }) }
      const desk = new Desk([[PAY]], { gate })
      await desk.assistant.run("Pay it.")
      const desks = [await desk.move(["Done."], { gate }), await desk.move(["Done."], { gate })]
      const late = await desk.move(["Done."], { gate })
      for (const { id, sha256 } of await listApprovals(folder)) {
        await answerApproval(folder, id, { decision: "approve", by: "ann", sha256 })
      }
      const results = await Promise.all(desks.map(async ({ assistant }) => assistant.run()))
      results.push(await late.assistant.run())
      expect(desk.paid).toEqual([7])
      const told = results.flatMap(resultsOf).map(({ content }) => content)
      expect(told.filter((text) => text === "paid 7")).toHaveLength(1)
      expect(
        told.filter((text) => /used already.*whether it was done is not known/u.test(text)),
      ).toHaveLength(2)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
