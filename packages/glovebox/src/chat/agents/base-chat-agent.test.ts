import { describe, expect, it, vi } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import { type ChatMessage, TextMessage, ThoughtEvent, toText } from "../messages/index.ts"
import { type TaskResult, response } from "../task/index.ts"
import { RoundRobinGroupChat } from "../teams/index.ts"
import { BaseChatAgent } from "./base-chat-agent.ts"
import type { TurnOptions, TurnStream } from "./chat-agent.ts"

const USAGE = { promptTokens: 3, completionTokens: 2 }
const thought = ThoughtEvent({ content: "hm", source: "a", modelsUsage: USAGE })
const said = TextMessage({ content: "said", source: "a" })

type Turn = (messages: readonly ChatMessage[], options: TurnOptions) => AsyncGenerator<unknown, unknown>

/** An agent that somebody wrote without looking at the types. */
class Loose extends BaseChatAgent {
  readonly #turn: Turn

  constructor(turn: Turn) {
    super("a", "An agent of the test.")
    this.#turn = turn
  }

  override onMessagesStream(messages: readonly ChatMessage[], options: TurnOptions): TurnStream {
    return this.#turn(messages, options) as TurnStream
  }
}

async function inTeam(agent: BaseChatAgent): Promise<TaskResult> {
  await using team = new RoundRobinGroupChat({ participants: [agent], maxTurns: 1 })
  return await team.run("hi")
}

describe("an agent's turn", () => {
  it.each<[string, Turn]>([
    [
      "yielded last",
      async function* () {
        yield thought
        yield response(said, [thought])
      },
    ],
    [
      "only returned",
      async function* () {
        yield thought
        return response(said, [thought])
      },
    ],
    [
      "that tells of more than was yielded",
      async function* () {
        yield response(said, [thought])
      },
    ],
    [
      "that tells of less than was yielded",
      async function* () {
        yield thought
        yield { type: "Response", chatMessage: said }
      },
    ],
    [
      "with something after it",
      async function* () {
        yield thought
        yield response(said, [thought])
        yield thought
        yield response(TextMessage({ content: "twice", source: "a" }))
      },
    ],
  ])("with a response %s is the same alone and in a team", async (_what, turn) => {
    for (const result of [await new Loose(turn).run("hi"), await inTeam(new Loose(turn))]) {
      expect(result.messages.map((message) => toText(message))).toEqual(["hi", "hm", "said"])
      expect(result.usage).toEqual(USAGE)
    }
    const { signal } = new AbortController()
    expect((await new Loose(turn).onMessages([], { signal })).chatMessage).toBe(said)
  })

  it.each<[string, Turn, RegExp]>([
    ["no response", async function* () {}, /ended its turn without a response/],
    [
      "a response that says nothing",
      async function* () {
        yield { type: "Response", chatMessage: null }
      },
      /ended its turn without a response/,
    ],
    [
      "null in its stream",
      async function* () {
        yield null
      },
      /a yielded null/,
    ],
    [
      "a plain object in its stream",
      async function* () {
        yield { type: "TextMessage", content: "x", source: "a" }
      },
      /a yielded \{"type":"TextMessage".* Make it with a type/,
    ],
    [
      "rubbish in its response",
      async function* () {
        yield { type: "Response", chatMessage: said, innerMessages: [7] }
      },
      /innerMessages of agent a have 7/,
    ],
    ["no stream", (() => undefined) as never, /stream of agent a is undefined/],
  ])("with %s is refused alone and in a team", async (_what, turn, problem) => {
    await expectFailure(new Loose(turn).run("hi"), "AGENT_INVALID", problem)
    await expectFailure(inTeam(new Loose(turn)), "AGENT_FAILED", problem)
    const { signal } = new AbortController()
    await expectFailure(new Loose(turn).onMessages([], { signal }), "AGENT_INVALID", problem)
  })

  it.each([undefined, null, "words"])("that throws %j fails the run of a team", async (thrown) => {
    const agent = new Loose(async function* () {
      yield thought
      await Promise.reject(thrown)
    })
    await expectFailure(inTeam(agent), "AGENT_FAILED", /^a failed in its turn/)
  })

  it("cannot change its task", async () => {
    const agent = new Loose(async function* (messages) {
      ;(messages as ChatMessage[]).push(said)
      yield response(said)
    })
    await expect(agent.run("hi")).rejects.toThrow(TypeError)
  })
})

describe("an agent's run that is cancelled", () => {
  it("waits for no agent that does not look at its signal, and the next one does", async () => {
    const began = gate()
    const hold = gate()
    let turns = 0
    const agent = new Loose(async function* () {
      turns += 1
      began.open()
      if (turns === 1) await hold.promise
      yield response(TextMessage({ content: `turn ${turns}`, source: "a" }))
    })
    const controller = new AbortController()
    const run = agent.run("hi", { signal: controller.signal })
    await began.promise
    controller.abort(new Error("enough"))
    await expect(run).rejects.toThrow("enough")
    const next = agent.run("again")
    expect(turns).toBe(1)
    hold.open()
    expect((await next).messages.map((message) => toText(message))).toEqual(["again", "turn 2"])
  })

  it("refuses the next one while the agent does not come back", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    try {
      const began = gate()
      const agent = new Loose(async function* () {
        began.open()
        await new Promise(() => {})
        yield thought
      })
      const controller = new AbortController()
      const run = agent.run("hi", { signal: controller.signal })
      await began.promise
      controller.abort(new Error("enough"))
      const [, cancelled] = await Promise.allSettled([vi.advanceTimersByTimeAsync(1_000), run])
      expect(cancelled).toMatchObject({ reason: { message: "enough" } })
      const next = expectFailure(agent.run("again"), "RUN_ACTIVE", /does not look at its signal/)
      await vi.advanceTimersByTimeAsync(10_000)
      await next
    } finally {
      vi.useRealTimers()
    }
  })
})

describe("an agent's name", () => {
  it.each(["", "a b", "1a", "__proto__", "a\n"])("is not %j", (name) => {
    class Named extends Loose {
      override readonly name = name
    }
    expect(() => new RoundRobinGroupChat({ participants: [new Named(async function* () {})] })).toThrow(
      /no name for an agent/,
    )
  })
})
