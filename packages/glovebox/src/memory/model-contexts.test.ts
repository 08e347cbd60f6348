import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { failureOf } from "../core/failure-of.test-kit.ts"
import type { LLMMessage } from "../models/index.ts"
import { ReplayChatCompletionClient } from "../models/replay/index.ts"
import {
  BufferedChatCompletionContext,
  type ChatCompletionContext,
  HeadAndTailChatCompletionContext,
  TokenLimitedChatCompletionContext,
  UnboundedChatCompletionContext,
} from "./index.ts"

const system = (content: string): LLMMessage => ({ type: "SystemMessage", content })
const user = (content: string): LLMMessage => ({ type: "UserMessage", content, source: "user" })
const call = (id: string): LLMMessage => ({
  type: "AssistantMessage",
  content: [{ id, name: "f", arguments: "{}" }],
  source: "assistant",
})
const result = (id: string): LLMMessage => ({
  type: "FunctionExecutionResultMessage",
  content: [{ callId: id, name: "f", content: `result ${id}` }],
})

async function fill<Context extends ChatCompletionContext>(
  context: Context,
  messages: readonly LLMMessage[],
): Promise<Context> {
  for (const message of messages) await context.addMessage(message)
  return context
}

const talk = [user("1"), call("a"), result("a"), user("2"), call("b"), result("b"), user("3")]
const modelClient = new ReplayChatCompletionClient([])

describe("UnboundedChatCompletionContext", () => {
  it("shows everything, as a list of its own", async () => {
    const context = await fill(new UnboundedChatCompletionContext(), talk)
    const shown = await context.getMessages()
    expect(shown).toEqual(talk)
    shown.length = 0
    expect(await context.getMessages()).toEqual(talk)
  })

  it("begins again with its first messages", async () => {
    const context = new UnboundedChatCompletionContext({ initialMessages: [system("s")] })
    await fill(context, talk)
    await context.clear()
    expect(await context.getMessages()).toEqual([system("s")])
  })

  it("refuses what is no message, and a state that is none", async () => {
    const context = new UnboundedChatCompletionContext()
    await expectFailure(context.addMessage({ type: "UserMessage" } as never), "MESSAGE_INVALID")
    for (const state of [undefined, {}, { version: 2, messages: [] }, { version: 1, messages: [1] }]) {
      await expectFailure(context.loadState(state), "STATE_INVALID")
    }
  })
})

describe("BufferedChatCompletionContext", () => {
  it.each([
    [1, [user("3")]],
    [2, [user("3")]],
    [3, talk.slice(4)],
    [4, talk.slice(3)],
    [100, talk],
  ])("shows the last %i messages, and no half of a call", async (bufferSize, expected) => {
    expect(await (await fill(new BufferedChatCompletionContext({ bufferSize }), talk)).getMessages()).toEqual(
      expected,
    )
  })

  it("shows a call with its results whole, even if it is too long alone", async () => {
    const context = await fill(new BufferedChatCompletionContext({ bufferSize: 1 }), talk.slice(0, 3))
    expect(await context.getMessages()).toEqual([call("a"), result("a")])
  })

  it("leaves out results whose call is not there", async () => {
    const context = await fill(new BufferedChatCompletionContext({ bufferSize: 5 }), [result("x"), user("1")])
    expect(await context.getMessages()).toEqual([user("1")])
  })
})

describe("a context whose calls are answered late", () => {
  const late = [user("1"), call("a"), user("2"), result("a"), user("3")]

  it.each([1, 2, 3, 4, 5])("shows none or all of them with %i messages", async (bufferSize) => {
    const shown = await (await fill(new BufferedChatCompletionContext({ bufferSize }), late)).getMessages()
    expect(shown).toEqual(bufferSize < 4 ? [user("3")] : late.slice(-bufferSize))
  })

  it("tells calls with the same id apart, and leaves out results of others", async () => {
    const twice = [call("a"), result("a"), user("1"), result("x"), call("a"), result("a")]
    const context = await fill(new BufferedChatCompletionContext({ bufferSize: 3 }), twice)
    expect(await context.getMessages()).toEqual([user("1"), call("a"), result("a")])
  })
})

describe("HeadAndTailChatCompletionContext", () => {
  it("shows the first and the last, and says how many are not shown", async () => {
    const context = await fill(new HeadAndTailChatCompletionContext({ headSize: 2, tailSize: 2 }), talk)
    expect(await context.getMessages()).toEqual([
      user("1"),
      { type: "UserMessage", content: "Skipped 5 messages.", source: "System" },
      user("3"),
    ])
  })

  it("shows everything that fits", async () => {
    const context = await fill(new HeadAndTailChatCompletionContext({ headSize: 3, tailSize: 4 }), talk)
    expect(await context.getMessages()).toEqual(talk)
  })
})

describe("TokenLimitedChatCompletionContext", () => {
  it("leaves out from the middle, and never instructions or the last words", async () => {
    const words = Array.from({ length: 9 }, (_, index) => user(`word${index}`))
    const messages = [system("be brief"), ...words, user("last")]
    const { tokens } = await modelClient.countTokens([
      system("be brief"),
      user("word0"),
      user("word8"),
      user("last"),
    ])
    const context = await fill(
      new TokenLimitedChatCompletionContext({ modelClient, tokenLimit: tokens }),
      messages,
    )
    expect(await context.getMessages()).toEqual([
      system("be brief"),
      user("word0"),
      user("word8"),
      user("last"),
    ])
  })

  it("takes the model's own limit, and counts the tools", async () => {
    const { tokens } = await modelClient.countTokens(talk)
    const info = { ...modelClient.modelInfo, contextTokens: tokens }
    const exact = new ReplayChatCompletionClient([], { modelInfo: info })
    const context = await fill(new TokenLimitedChatCompletionContext({ modelClient: exact }), talk)
    expect(await context.getMessages()).toEqual(talk)
    const tools = [{ name: "f", description: "some words" }]
    const tight = await fill(new TokenLimitedChatCompletionContext({ modelClient: exact, tools }), talk)
    expect((await tight.getMessages()).length).toBeLessThan(talk.length)
  })

  it("says so when what must stay does not fit", async () => {
    const context = await fill(new TokenLimitedChatCompletionContext({ modelClient, tokenLimit: 8 }), [
      user("a b c d e f"),
    ])
    await expectFailure(context.getMessages(), "CONTEXT_OVERFLOW", /8 tokens/)
  })

  it("shows nothing of an empty conversation", async () => {
    expect(await new TokenLimitedChatCompletionContext({ modelClient, tokenLimit: 8 }).getMessages()).toEqual(
      [],
    )
  })
})

describe("every context", () => {
  const makers: Record<string, () => ChatCompletionContext> = {
    unbounded: () => new UnboundedChatCompletionContext(),
    buffered: () => new BufferedChatCompletionContext({ bufferSize: 3 }),
    "head and tail": () => new HeadAndTailChatCompletionContext({ headSize: 2, tailSize: 3 }),
    "token-limited": () => new TokenLimitedChatCompletionContext({ modelClient, tokenLimit: 40 }),
  }

  it.each(Object.entries(makers))("%s never parts a call from its results", async (_name, make) => {
    const step = fc.constantFrom("user", "call", "calls")
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
        const messages = steps.flatMap((kind, index) => {
          if (kind === "user") return [user(`u${index}`)]
          // Results may come in one message or in several.
          const results =
            kind === "calls" ? [result(`c${index}`), result(`c${index}`)] : [result(`c${index}`)]
          return [call(`c${index}`), ...results]
        })
        const shown = await (await fill(make(), messages)).getMessages()
        const real = shown.filter((message) => messages.includes(message))
        const results = messages.filter(({ type }) => type === "FunctionExecutionResultMessage")
        const before = results.map((message) => messages[messages.indexOf(message) - 1])
        expect(results.map((message) => real.includes(message))).toEqual(
          before.map((message) => message !== undefined && real.includes(message)),
        )
        expect(real).toEqual(messages.filter((message) => real.includes(message)))
        expect(shown.at(-1)).toEqual(messages.at(-1))
      }),
      { numRuns: 50 },
    )
  })

  it.each(Object.entries(makers))("%s keeps all messages in its state, through JSON", async (_name, make) => {
    const context = await fill(make(), talk)
    const state: unknown = JSON.parse(JSON.stringify(await context.saveState()))
    const again = make()
    await again.loadState(state)
    expect(await again.saveState()).toEqual(state)
    expect(await again.getMessages()).toEqual(await context.getMessages())
  })

  it("refuses sizes that are none", () => {
    for (const size of [0, -1, 1.5, Number.NaN, "3" as never]) {
      expect(failureOf(() => new BufferedChatCompletionContext({ bufferSize: size }))).toMatch(
        /^OPTION_INVALID: bufferSize/,
      )
      expect(failureOf(() => new HeadAndTailChatCompletionContext({ headSize: 1, tailSize: size }))).toMatch(
        /tailSize/,
      )
      expect(
        failureOf(() => new TokenLimitedChatCompletionContext({ modelClient, tokenLimit: size })),
      ).toMatch(/tokenLimit/)
    }
  })
})
