import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import type { LLMMessage } from "../index.ts"
import { ReplayChatCompletionClient } from "./index.ts"

const ask = (content: string): LLMMessage[] => [{ type: "UserMessage", content, source: "user" }]

describe("ReplayChatCompletionClient", () => {
  it("gives its answers in order, remembers what was asked, and begins again", async () => {
    const client = new ReplayChatCompletionClient([
      "one",
      [{ id: "1", name: "f", arguments: "{}" }],
      { content: "cut", finishReason: "length" },
    ])
    const results = [
      await client.create(ask("a")),
      await client.create(ask("b")),
      await client.create(ask("c")),
    ]
    expect(results.map(({ finishReason }) => finishReason)).toEqual(["stop", "function_calls", "length"])
    expect(client.createCalls.map(({ messages }) => messages[0]?.content)).toEqual(["a", "b", "c"])
    await expectFailure(client.create(ask("d")), "REPLAY_EXHAUSTED", /All 3 answers/)
    client.reset()
    expect(client.actualUsage()).toEqual({ promptTokens: 0, completionTokens: 0 })
    expect((await client.create(ask("e"))).content).toBe("one")
  })

  it("streams words that make up the text, with its spaces", async () => {
    const text = "  one two\n\nthree "
    const items: unknown[] = []
    for await (const item of new ReplayChatCompletionClient([text]).createStream(ask("x"))) items.push(item)
    expect(items.slice(0, -1).join("")).toBe(text)
    expect(items.length).toBe(5)
  })

  it("throws errors, and asks functions", async () => {
    const boom = new Error("boom")
    const client = new ReplayChatCompletionClient([
      boom,
      async ([first]) => `you said ${JSON.stringify(first?.content)}`,
    ])
    await expect(client.create(ask("a"))).rejects.toBe(boom)
    expect((await client.create(ask("b"))).content).toBe('you said "b"')
  })

  it("refuses an answer that is none", async () => {
    const client = new ReplayChatCompletionClient([{ content: 7 } as never])
    await expectFailure(client.create(ask("a")), "MODEL_RESPONSE_INVALID", /Answer 1/)
  })

  it("does not wait for a function that never answers when it is aborted", async () => {
    const reason = new Error("enough")
    const controller = new AbortController()
    const client = new ReplayChatCompletionClient([
      async () => {
        controller.abort(reason)
        return new Promise(() => {})
      },
    ])
    await expect(client.create(ask("x"), { signal: controller.signal })).rejects.toBe(reason)
  })

  it("refuses tools and forms that are none", async () => {
    const client = new ReplayChatCompletionClient(["x"])
    for (const options of [
      { tools: [null] },
      { tools: [{ schema: 5 }] },
      { jsonOutput: "json" },
      { jsonOutput: 7 },
    ]) {
      await expectFailure(client.create(ask("a"), options as never), "MODEL_REQUEST_INVALID")
    }
  })

  it("stops a stream when it is aborted", async () => {
    const controller = new AbortController()
    const reason = new Error("enough")
    const stream = new ReplayChatCompletionClient(["one two"]).createStream(ask("x"), {
      signal: controller.signal,
    })
    expect((await stream.next()).value).toBe("one ")
    controller.abort(reason)
    await expect(stream.next()).rejects.toBe(reason)
  })
})
