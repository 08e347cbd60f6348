import { describe, expect, it } from "vitest"
import { type Image, type LLMMessage, image } from "../index.ts"
import { ABLE } from "../server-subject.test-kit.ts"
import { OpenAIChatCompletionClient } from "./index.ts"

const said = (content: string): LLMMessage[] => [{ type: "UserMessage", content, source: "user" }]

describe("OpenAIChatCompletionClient.countTokens", () => {
  it.each([
    ["gpt-5", "gpt-tokenizer o200k_base", 8],
    ["gpt-4", "gpt-tokenizer cl100k_base", 9],
  ])("counts %s with %s", async (model, tokenizer, japanese) => {
    const client = new OpenAIChatCompletionClient({ model, apiKey: "k" })
    // Three for the request, three for the message, one for its source.
    const around = 7
    expect(await client.countTokens(said(""))).toEqual({ tokens: around, tokenizer })
    expect((await client.countTokens(said("antidisestablishmentarianism"))).tokens - around).toBe(6)
    expect((await client.countTokens(said("お誕生日おめでとう"))).tokens - around).toBe(japanese)
  })

  it("takes text that looks like a control token as text", async () => {
    const client = new OpenAIChatCompletionClient({ model: "gpt-5", apiKey: "k" })
    const { tokens } = await client.countTokens(said("<|endoftext|>"))
    expect(tokens).toBeGreaterThan(8)
  })

  it("estimates for models whose tokenizer is not public, and says so", async () => {
    const client = new OpenAIChatCompletionClient({
      model: "llama",
      modelInfo: ABLE,
      baseURL: "http://localhost:1",
    })
    expect(await client.countTokens(said("abcdefgh"))).toEqual({
      tokens: 3 + 3 + 1 + 2,
      tokenizer: "estimate",
    })
    expect((await client.countTokens(said("世界世界世界"))).tokens).toBe(3 + 3 + 1 + 4)
  })

  it.each([
    [1, 1, 255],
    [512, 512, 255],
    [2048, 512, 765],
    [2048, 2048, 765],
    [512, 1024, 425],
  ])("counts an image of %i by %i as %i", async (width, height, tokens) => {
    const client = new OpenAIChatCompletionClient({ model: "gpt-4o", apiKey: "k" })
    const empty = await client.countTokens([{ type: "UserMessage", content: [], source: "u" }])
    const seen = await client.countTokens([
      { type: "UserMessage", content: [png(width, height)], source: "u" },
    ])
    expect(seen.tokens - empty.tokens).toBe(tokens)
  })
})

/** An image of which only the header is there. */
function png(width: number, height: number): Image {
  const bytes = Buffer.alloc(24)
  bytes.write("\x89PNG\r\n\x1A\n", "latin1")
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return image(bytes)
}
