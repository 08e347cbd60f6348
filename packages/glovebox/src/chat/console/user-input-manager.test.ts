import { describe, expect, it, vi } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import type { UserInputRequest } from "../agents/user-input.ts"
import { UserProxyAgent } from "../agents/user-proxy-agent.ts"
import { type ChatItem, UserInputRequestedEvent } from "../messages/index.ts"
import type { TaskResult } from "../task/index.ts"
import { Paper, lines, say, taskResult } from "./console.test-kit.ts"
import { Console, UserInputManager } from "./index.ts"

const request = (requestId: string, signal = new AbortController().signal): UserInputRequest => ({
  prompt: "?",
  requestId,
  agent: "user",
  messages: [],
  signal,
})

describe("UserInputManager", () => {
  it("asks when all that was said before is on the screen", async () => {
    const output = new Paper()
    let atPrompt = ""
    const userInput = new UserInputManager(() => {
      atPrompt = output.text
      return "yes"
    })
    // As in a team: the agent asks while its event is still on the way to the screen.
    async function* team(): AsyncGenerator<ChatItem | TaskResult> {
      const answer = userInput.input(request("1"))
      yield say("Shall I?")
      yield UserInputRequestedEvent({ requestId: "1", source: "user" })
      yield say(await answer, "user")
      yield taskResult()
    }
    await Console(team(), { output, userInput })
    expect(atPrompt).toBe(lines("writer (TextMessage)", "  Shall I?"))
  })

  it("works with a user proxy alone", async () => {
    const userInput = new UserInputManager(({ prompt }) => `answer to ${prompt}`)
    const user = new UserProxyAgent({ name: "user", prompt: "Well?", input: userInput.input })
    const output = new Paper()
    const { signal } = new AbortController()
    const { chatMessage } = await Console(user.onMessagesStream([say("Hi")], { signal }), {
      output,
      userInput,
    })
    expect(chatMessage).toMatchObject({ content: "answer to Well?" })
    const { messages } = await Console(user.runStream("Hi"), { output, userInput })
    expect(messages.at(-1)).toMatchObject({ content: "answer to Well?" })
  })

  it("works without any Console", async () => {
    const userInput = new UserInputManager(() => "yes")
    expect(await userInput.input(request("1"))).toBe("yes")
    const user = new UserProxyAgent({ name: "user", input: userInput.input })
    expect((await user.run("Hi")).messages.at(-1)).toMatchObject({ content: "yes" })
  })

  it("asks also when the screen never hears of the question", async () => {
    const userInput = new UserInputManager(() => "yes")
    const output = new Paper()
    async function* hidden(): AsyncGenerator<ChatItem | TaskResult> {
      yield say(await userInput.input(request("1")))
      yield taskResult()
    }
    await Console(hidden(), { output, userInput })
    expect(output.text).toContain("  yes\n")
  })

  it("asks when the Console that it waits for is over", async () => {
    const userInput = new UserInputManager(() => "yes")
    const screen = userInput.attach()
    const answer = userInput.input(request("1"))
    screen.leave()
    expect(await answer).toBe("yes")
  })

  it("asks one question at a time", async () => {
    const answers: ((answer: string) => void)[] = []
    const userInput = new UserInputManager(() => new Promise((resolve) => answers.push(resolve)))
    const stop = new AbortController()
    const asked = [
      userInput.input(request("1")),
      userInput.input(request("2", stop.signal)),
      userInput.input(request("3")),
    ]
    await vi.waitFor(() => expect(answers).toHaveLength(1))
    stop.abort(new Error("never mind"))
    await expect(asked[1]).rejects.toThrow("never mind")
    expect(answers).toHaveLength(1)
    answers[0]?.("one")
    await vi.waitFor(() => expect(answers).toHaveLength(2))
    answers[1]?.("three")
    expect(await Promise.all([asked[0], asked[2]])).toEqual(["one", "three"])
  })

  it("stops waiting for an answer, or for the screen, when it is told to", async () => {
    const stop = new AbortController()
    const userInput = new UserInputManager(() => new Promise(() => {}))
    const waiting = userInput.input(request("1", stop.signal))
    stop.abort(new Error("late"))
    await expect(waiting).rejects.toThrow("late")
    userInput.attach()
    const again = new AbortController()
    const unseen = userInput.input(request("2", again.signal))
    again.abort(new Error("later"))
    await expect(unseen).rejects.toThrow("later")
  })

  it("passes on what the function throws, and refuses what is no function", async () => {
    const userInput = new UserInputManager(() => {
      throw new Error("no keyboard")
    })
    await expect(userInput.input(request("1"))).rejects.toThrow("no keyboard")
    expect(failureOf(() => new UserInputManager("name" as never))).toMatch(/^OPTION_INVALID: "name"/)
  })
})
