import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { ComponentRegistry } from "../../core/index.ts"
import { TEST_KEY } from "../server-subject.test-kit.ts"
import { AnthropicChatCompletionClient, anthropicChatCompletionClientComponent } from "./index.ts"

beforeEach(() => {
  vi.stubEnv("ANTHROPIC_API_KEY", undefined)
  vi.stubEnv("ANTHROPIC_BASE_URL", undefined)
})

afterEach(() => {
  vi.unstubAllEnvs()
})

describe("AnthropicChatCompletionClient", () => {
  it("wants a key for Anthropic, from its options or the environment", () => {
    expect(failureOf(() => new AnthropicChatCompletionClient({ model: "claude-x" }))).toMatch(
      /^MODEL_KEY_MISSING: .*ANTHROPIC_API_KEY/,
    )
    vi.stubEnv("ANTHROPIC_API_KEY", TEST_KEY)
    expect(new AnthropicChatCompletionClient({ model: "claude-x" }).modelInfo.family).toBe("claude")
  })

  it("says what to do about a model it does not know", () => {
    expect(failureOf(() => new AnthropicChatCompletionClient({ model: "gpt-4o", apiKey: "k" }))).toMatch(
      /^MODEL_UNKNOWN: .*"gpt-4o".*modelInfo/,
    )
  })

  it.each([
    ["claude-3-5-sonnet-20241022", false],
    ["claude-sonnet-4-20250514", false],
    ["claude-sonnet-4-5-20250929", true],
    ["claude-opus-5", true],
  ])("knows whether %s keeps to a schema", (model, structuredOutput) => {
    expect(new AnthropicChatCompletionClient({ model, apiKey: "k" }).modelInfo).toMatchObject({
      structuredOutput,
    })
  })

  it("becomes data without its key, and is made from it again", () => {
    const client = new AnthropicChatCompletionClient({
      model: "claude-opus-5",
      apiKey: TEST_KEY,
      headers: { "x-secret": TEST_KEY },
      thinking: { type: "adaptive" },
      stopSequences: ["END"],
    })
    const data = client.toComponent()
    expect(JSON.stringify(data)).not.toContain(TEST_KEY)
    vi.stubEnv("ANTHROPIC_API_KEY", "another")
    const registry = new ComponentRegistry([anthropicChatCompletionClientComponent])
    const again = registry.load(JSON.parse(JSON.stringify(data)), AnthropicChatCompletionClient)
    expect(again.toComponent()).toEqual(data)
    expect(again.identity).toEqual(client.identity)
  })
})
