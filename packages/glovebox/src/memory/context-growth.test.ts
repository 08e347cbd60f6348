import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { LLMMessage } from "../models/index.ts"
import { ReplayChatCompletionClient } from "../models/replay/index.ts"
import {
  BufferedChatCompletionContext,
  HeadAndTailChatCompletionContext,
  TokenLimitedChatCompletionContext,
  UnboundedChatCompletionContext,
} from "./index.ts"
import { buffered, headAndTail, tokenLimited } from "./plain-contexts.test-kit.ts"

const modelClient = new ReplayChatCompletionClient([])

// Few ids, so that calls share them, and results come late, twice, for several calls, or for none.
const ids = fc.constantFrom("a", "b", "c", "d")
const message: fc.Arbitrary<LLMMessage> = fc.oneof(
  fc.lorem({ maxCount: 4 }).map((content): LLMMessage => ({ type: "UserMessage", content, source: "u" })),
  fc.constant<LLMMessage>({ type: "SystemMessage", content: "be brief" }),
  fc.constant<LLMMessage>({ type: "AssistantMessage", content: "yes", source: "a" }),
  fc.array(ids, { minLength: 1, maxLength: 2 }).map((calls): LLMMessage => ({
    type: "AssistantMessage",
    content: calls.map((id) => ({ id, name: "f", arguments: "{}" })),
    source: "a",
  })),
  fc.array(ids, { maxLength: 2 }).map((calls): LLMMessage => ({
    type: "FunctionExecutionResultMessage",
    content: calls.map((callId) => ({ callId, name: "f", content: "done" })),
  })),
)
const talk = fc.array(message, { maxLength: 30 })
const size = fc.integer({ min: 1, max: 12 })

describe("a context that is asked after each message", () => {
  it("shows what the last messages are, as if it had looked at all of them", async () => {
    await fc.assert(
      fc.asyncProperty(talk, size, async (messages, bufferSize) => {
        const context = new BufferedChatCompletionContext({ bufferSize })
        for (const [index, each] of messages.entries()) {
          await context.addMessage(each)
          expect(await context.getMessages()).toEqual(buffered(messages.slice(0, index + 1), bufferSize))
        }
      }),
      { numRuns: 60 },
    )
  })

  it("shows what the first and the last are, as if it had looked at all of them", async () => {
    await fc.assert(
      fc.asyncProperty(talk, size, size, async (messages, headSize, tailSize) => {
        const context = new HeadAndTailChatCompletionContext({ headSize, tailSize })
        for (const [index, each] of messages.entries()) {
          await context.addMessage(each)
          const all = messages.slice(0, index + 1)
          expect(await context.getMessages()).toEqual(headAndTail(all, headSize, tailSize))
        }
      }),
      { numRuns: 60 },
    )
  })

  it("shows as many tokens as fit, as if it had tried each length", async () => {
    await fc.assert(
      fc.asyncProperty(talk, fc.integer({ min: 10, max: 80 }), async (messages, tokenLimit) => {
        const context = new TokenLimitedChatCompletionContext({ modelClient, tokenLimit })
        for (const [index, each] of messages.entries()) {
          await context.addMessage(each)
          const expected = await tokenLimited(messages.slice(0, index + 1), modelClient, tokenLimit)
          const shown = await context.getMessages().catch(() => undefined)
          expect(shown).toEqual(expected)
        }
      }),
      { numRuns: 40 },
    )
  })

  it("knows nothing of what was before clear() and loadState()", async () => {
    await fc.assert(
      fc.asyncProperty(talk, talk, size, async (before, messages, bufferSize) => {
        const context = new BufferedChatCompletionContext({ bufferSize })
        for (const each of before) await context.addMessage(each)
        await context.getMessages()
        await context.clear()
        expect(await context.getMessages()).toEqual([])
        await context.loadState({ version: 1, messages })
        expect(await context.getMessages()).toEqual(buffered(messages, bufferSize))
      }),
      { numRuns: 40 },
    )
  })
})

describe("a context with a long history", () => {
  const words = (index: number): LLMMessage => ({
    type: "UserMessage",
    content: `word ${index}`,
    source: "u",
  })

  it("looks at what it shows, and not at the rest", async () => {
    const seen = new Set<number>()
    const watched = (index: number): LLMMessage =>
      new Proxy(words(index), {
        get: (target, key) => {
          seen.add(index)
          return Reflect.get(target, key) as unknown
        },
      })
    const contexts = [
      new BufferedChatCompletionContext({ bufferSize: 10 }),
      new HeadAndTailChatCompletionContext({ headSize: 5, tailSize: 5 }),
      new TokenLimitedChatCompletionContext({ modelClient, tokenLimit: 60 }),
    ]
    for (const context of contexts) {
      for (let index = 0; index < 300; index += 1) {
        await context.addMessage(watched(index))
        await context.getMessages()
      }
      seen.clear()
      await context.addMessage(watched(300))
      await context.getMessages()
      expect(seen.size, context.constructor.name).toBeLessThan(40)
    }
  })

  it("counts tokens a few times for each message that comes", async () => {
    let counts = 0
    const counting = new ReplayChatCompletionClient([])
    const countTokens = counting.countTokens.bind(counting)
    counting.countTokens = async (...args) => {
      counts += 1
      return countTokens(...args)
    }
    const context = new TokenLimitedChatCompletionContext({ modelClient: counting, tokenLimit: 200 })
    for (let index = 0; index < 500; index += 1) {
      await context.addMessage(words(index))
      await context.getMessages()
    }
    expect(counts).toBeLessThan(500 * 4)
  })

  it("shows what there was when it was asked, though more comes meanwhile", async () => {
    const context = new TokenLimitedChatCompletionContext({ modelClient, tokenLimit: 1_000 })
    await context.addMessage(words(1))
    const asked = context.getMessages()
    await context.addMessage(words(2))
    expect(await asked).toEqual([words(1)])
  })

  it("shows all of what is unbounded, as it came", async () => {
    await fc.assert(
      fc.asyncProperty(talk, async (messages) => {
        const context = new UnboundedChatCompletionContext()
        for (const each of messages) await context.addMessage(each)
        expect(await context.getMessages()).toEqual(messages)
      }),
      { numRuns: 20 },
    )
  })
})
