import { describe, expect, it } from "vitest"
import { BufferedChatCompletionContext } from "../../../memory/index.ts"
import { TextMessage } from "../../messages/index.ts"
import { answerText } from "../../task/index.ts"
import { Desk } from "./assistant-suspended.test-kit.ts"
import { call, forever, openCalls, shown, typesOf, workbenchOf } from "./assistant.test-kit.ts"

const PAY = call("pay", { euros: 7 }, "call-7")
const said = (content: string): TextMessage => TextMessage({ content, source: "user" })

describe("an assistant whose call waits for an approval", () => {
  it("ends its run with what it waits for, and goes on without asking its model again", async () => {
    const desk = new Desk([[PAY], "It is paid."])
    const { assistant, modelClient } = desk
    const first = await assistant.run("Pay it.")
    expect(typesOf(first.messages)).toEqual(["TextMessage", "ToolCallRequestEvent"])
    expect(first).toMatchObject({ stopKind: "suspended", pending: [expect.any(String)] })
    const again = await assistant.run()
    expect(again).toMatchObject({ stopKind: "suspended", pending: first.pending, messages: [] })
    expect(desk.paid).toEqual([])

    desk.answer(first)
    const last = await assistant.run()
    expect(typesOf(last.messages)).toEqual(["ToolCallExecutionEvent", "TextMessage"])
    expect(answerText(last)).toBe("It is paid.")
    expect(last.pending).toBeUndefined()
    expect(desk.paid).toEqual([7])
    expect(modelClient.createCalls).toHaveLength(2)
    expect(openCalls(shown(modelClient, 1))).toEqual([])
    const told = [first, again, last].map(({ usage }) => usage.promptTokens)
    expect(told.reduce((sum, each) => sum + each)).toBe(modelClient.totalUsage().promptTokens)
  })

  it("hears what is said meanwhile after the results, once", async () => {
    const desk = new Desk([[PAY]])
    await desk.assistant.run("Pay it.")
    const waiting = await desk.assistant.run("And hurry.")
    expect(waiting.stopKind).toBe("suspended")
    desk.answer(waiting)
    const { assistant, modelClient } = await desk.move(["It is paid."])
    await assistant.run("Please.")
    const [task, calls, results, ...later] = shown(modelClient, 0)
    expect([task, calls, results].map((message) => message?.type)).toEqual([
      "UserMessage",
      "AssistantMessage",
      "FunctionExecutionResultMessage",
    ])
    expect(later.map(({ content }) => content)).toEqual(["And hurry.", "Please."])
  })

  it("forgets it with the conversation", async () => {
    const desk = new Desk([[PAY], "Hello."])
    const { assistant, modelClient } = desk
    desk.answer(await assistant.run("Pay it."))
    await assistant.onReset()
    expect(answerText(await assistant.run("Hi."))).toBe("Hello.")
    expect(desk.paid).toEqual([])
    expect(shown(modelClient, 1)).toMatchObject([{ content: "Hi." }])
  })

  it("takes a state that knows nothing of waiting, and refuses one that makes no sense", async () => {
    const desk = new Desk([[PAY], "Hello."])
    const { assistant } = desk
    const fresh = await assistant.saveState()
    expect(fresh).toMatchObject({ version: 1 })
    await assistant.run("Pay it.")
    const { suspended, ...rest } = await assistant.saveState()
    const broken = { ...rest, suspended: { ...Object(suspended), refused: [5] } }
    await expect(assistant.loadState(broken)).rejects.toMatchObject({ code: "STATE_INVALID" })
    await assistant.loadState(fresh)
    expect(answerText(await assistant.run("Hi."))).toBe("Hello.")
  })

  it("keeps to its caps over the wait", async () => {
    const desk = new Desk([[PAY]], { maxToolRounds: 1 })
    desk.answer(await desk.assistant.run("Pay it."))
    const { assistant } = await desk.move([[call("pay", { euros: 8 })]], { maxToolRounds: 1 })
    const last = await assistant.run()
    expect(last).toMatchObject({ stopKind: "tool-rounds" })
    expect(answerText(last)).toBe("paid 7")
    expect(desk.paid).toEqual([7])
  })

  it("needs no more of the conversation than its context keeps", async () => {
    const modelContext = new BufferedChatCompletionContext({ bufferSize: 1 })
    const desk = new Desk([[PAY], "It is paid."], { modelContext })
    const { assistant, modelClient } = desk
    await assistant.run("Pay it.")
    desk.answer(await assistant.run(["One.", "Two."].map(said)))
    expect(answerText(await assistant.run())).toBe("It is paid.")
    expect(openCalls(shown(modelClient, 1))).toEqual([])
    expect(desk.paid).toEqual([7])
  })

  it("stays as it is where it cannot go on", async () => {
    let isDown = false
    const workbench = workbenchOf("look", forever as never, async () => {
      if (isDown) throw new Error("The server is down.")
      return [{ name: "look" }]
    })
    const desk = new Desk([[PAY], "It is paid."], { workbench })
    const { assistant } = desk
    desk.answer(await assistant.run("Pay it."))
    await expect(assistant.run(undefined, { signal: AbortSignal.abort("no") })).rejects.toBe("no")
    isDown = true
    await expect(assistant.run()).rejects.toThrow("The server is down.")
    isDown = false
    expect(answerText(await assistant.run())).toBe("It is paid.")
    expect(desk.paid).toEqual([7])
  })
})
