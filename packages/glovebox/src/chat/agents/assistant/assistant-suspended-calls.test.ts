import { describe, expect, it } from "vitest"
import { image } from "../../../models/index.ts"
import { ReplayChatCompletionClient, type ReplayResponse } from "../../../models/replay/index.ts"
import { tool } from "../../../tools/index.ts"
import { answerText } from "../../task/index.ts"
import { RoundRobinGroupChat } from "../../teams/index.ts"
import { AgentTool } from "../../tools/index.ts"
import { Desk, payTool } from "./assistant-suspended.test-kit.ts"
import { call, forever, openCalls, resultsOf, shown, toolThat, typesOf } from "./assistant.test-kit.ts"
import { AssistantAgent } from "./index.ts"

const PAY = call("pay", { euros: 7 }, "call-7")

describe("a round in which a call waits for an approval", () => {
  it("lets the others end first, and makes none of them again", async () => {
    const paid: number[] = []
    let onRequest = (): void => {}
    const asked = new Promise<void>((resolve) => {
      onRequest = resolve
    })
    let looks = 0
    const look = toolThat("look", async () => {
      await asked
      return `seen ${(looks += 1)}`
    })
    const tools = [look, payTool(paid)]
    const desk = new Desk([[call("look", {}, "call-1"), PAY, call("look", {}, "call-2")]], {
      tools,
      gate: { onRequest },
    })
    desk.answer(await desk.assistant.run("Look, and pay."))
    const { assistant } = await desk.move(["Done."], { tools })
    expect(resultsOf(await assistant.run())).toMatchObject([
      { callId: "call-1", content: "seen 1" },
      { callId: "call-7", content: "paid 7" },
      { callId: "call-2", content: "seen 2" },
    ])
    expect(looks).toBe(2)
  })

  it("waits for as many as there are, in the order of the calls", async () => {
    const script = [[PAY, call("pay", { euros: 8 }), call("pay", { euros: 9 })], "All are paid."]
    const desk = new Desk(script)
    const { assistant, modelClient } = desk
    const first = await assistant.run("Pay them.")
    const [one = "", two = "", three] = first.pending ?? []
    desk.answer({ pending: [two] })
    const second = await assistant.run()
    expect(second.pending).toEqual([one, three])
    expect(desk.paid).toEqual([8])
    desk.answer(second)
    expect(answerText(await assistant.run())).toBe("All are paid.")
    expect(new Set(desk.paid)).toEqual(new Set([7, 8, 9]))
    expect(desk.paid).toHaveLength(3)
    expect(modelClient.createCalls).toHaveLength(2)
  })

  it("needs two approvals for the same call made twice", async () => {
    const desk = new Desk([[PAY, { ...PAY, id: "call-8" }], "Both are paid."])
    const { assistant } = desk
    let result = await assistant.run("Pay it twice.")
    const answered = new Set<string>()
    while (result.stopKind === "suspended") {
      desk.answer(result)
      for (const id of result.pending ?? []) answered.add(id)
      result = await assistant.run()
    }
    expect(answerText(result)).toBe("Both are paid.")
    expect(answered.size).toBe(2)
    expect(desk.paid).toEqual([7, 7])
  })

  it("goes no further where calls are made in their order", async () => {
    const paid: number[] = []
    const done: string[] = []
    const tools = [
      toolThat("check", () => done.push("check")),
      payTool(paid),
      toolThat("tell", () => done.push("tell")),
    ]
    const desk = new Desk([[call("check"), PAY, call("tell")], "Done."], {
      tools,
      parallelToolCalls: false,
    })
    const { assistant } = desk
    const first = await assistant.run("Check, pay, and tell.")
    expect(done).toEqual(["check"])
    desk.answer(first)
    await assistant.run()
    expect(done).toEqual(["check", "tell"])
    expect(paid).toEqual([7])
  })

  it("hands over only when it is done", async () => {
    const desk = new Desk([[PAY, call("transfer_to_boss")]], { handoffs: ["boss"] })
    const { assistant } = desk
    desk.answer(await assistant.run("Pay, and ask the boss."))
    const last = await assistant.run()
    expect(last).toMatchObject({ stopKind: "handoff" })
    expect(resultsOf(last)).toMatchObject([{ content: "paid 7" }, { name: "transfer_to_boss" }])
  })

  it("ends with the turn's time, in which nobody approved it", async () => {
    const paid: number[] = []
    const tools = [payTool(paid), toolThat("sleep", forever)]
    const desk = new Desk([[PAY, call("sleep")], "Hello."], { tools, turnTimeout: 20 })
    const { assistant } = desk
    const first = await assistant.run("Pay, and sleep.")
    expect(first).toMatchObject({ stopKind: "time" })
    expect(resultsOf(first)[0]?.content).toMatch(/still waited for an approval/)
    expect(openCalls(await assistant.modelContext.getMessages())).toEqual([])
    expect(answerText(await assistant.run("Hi."))).toBe("Hello.")
    expect(paid).toEqual([])
  })

  it("is written down as cancelled when it is cancelled in the middle", async () => {
    const cancel = new AbortController()
    const hang = tool({
      name: "hang",
      description: "Never ends",
      approval: true,
      execute: () => {
        cancel.abort("enough")
        return forever()
      },
    })
    const desk = new Desk([[call("hang")], "Hello."], { tools: [hang] })
    const { assistant } = desk
    desk.answer(await assistant.run("Hang."))
    await expect(assistant.run(undefined, { signal: cancel.signal })).rejects.toBe("enough")
    const kept = await assistant.modelContext.getMessages()
    expect(openCalls(kept)).toEqual([])
    expect(kept.at(-1)).toMatchObject({ content: [{ content: expect.stringContaining("cancelled") }] })
    expect(answerText(await assistant.run("Hi."))).toBe("Hello.")
  })

  it("keeps the images of calls that have ended", async () => {
    const paid: number[] = []
    const dot = image(Buffer.from("R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=", "base64"))
    const tools = [toolThat("draw", () => dot), payTool(paid)]
    const desk = new Desk([[call("draw"), PAY]], { tools })
    desk.answer(await desk.assistant.run("Draw, and pay."))
    const { assistant, modelClient } = await desk.move(["Done."], { tools })
    await assistant.run()
    expect(shown(modelClient, 0).at(-1)).toMatchObject({
      source: "tools",
      content: [expect.any(String), dot],
    })
  })

  it("waits for an agent behind a tool, which goes on where it was, in another process", async () => {
    const make = (
      script: readonly ReplayResponse[],
      inner: readonly ReplayResponse[],
      paid: number[] = [],
    ): { readonly clerk: Desk; readonly boss: AssistantAgent } => {
      const clerk = new Desk(inner, {}, paid)
      const tools = [new AgentTool({ agent: clerk.assistant, returnValueAsLastMessage: true })]
      const modelClient = new ReplayChatCompletionClient(script)
      return { clerk, boss: new AssistantAgent({ name: "boss", modelClient, tools }) }
    }
    const first = make([[call("clerk", { task: "Pay it." })]], [[PAY]])
    const waiting = await first.boss.run("Have it paid.")
    expect(waiting).toMatchObject({ stopKind: "suspended", pending: [expect.any(String)] })
    const second = make(["Done."], ["The invoice is paid."], first.clerk.paid)
    await second.boss.loadState(await first.boss.saveState())
    second.clerk.gate.loadState(await first.clerk.gate.saveState())
    second.clerk.answer(waiting)
    const last = await second.boss.run()
    expect(resultsOf(last).at(-1)).toMatchObject({ name: "clerk", content: "The invoice is paid." })
    expect(answerText(last)).toBe("Done.")
    expect(second.clerk.paid).toEqual([7])
  })

  it("is told once in the thread of a team", async () => {
    const desk = new Desk([[PAY], "It is paid."])
    const { assistant, modelClient } = desk
    const team = new RoundRobinGroupChat({ participants: [assistant], maxTurns: 1 })
    const first = await team.run("Pay it.")
    expect(typesOf(first.messages)).toEqual(["TextMessage", "ToolCallRequestEvent"])
    expect(first).toMatchObject({ stopKind: "suspended", pending: [expect.any(String)] })
    desk.answer(first)
    const last = await team.run()
    expect(typesOf(last.messages)).toEqual(["ToolCallExecutionEvent", "TextMessage"])
    expect(shown(modelClient, 1)).toHaveLength(3)
    expect(desk.paid).toEqual([7])
  })
})
