import { afterEach, describe, expect, it, vi } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { ComponentRegistry } from "../../core/index.ts"
import { TEST_KEY } from "../server-subject.test-kit.ts"
import { OllamaChatCompletionClient, ollamaChatCompletionClientComponent } from "./index.ts"

afterEach(() => {
  vi.unstubAllEnvs()
})

describe("OllamaChatCompletionClient", () => {
  it.each([
    [undefined, "http://127.0.0.1:11434"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["0.0.0.0:8080", "http://127.0.0.1:8080"],
    ["gpu-box", "http://gpu-box:11434"],
    [":8080", "http://127.0.0.1:8080"],
    ["https://ollama.example.com/", "https://ollama.example.com"],
  ])("finds the server when OLLAMA_HOST is %s", (host, endpoint) => {
    vi.stubEnv("OLLAMA_HOST", host)
    expect(new OllamaChatCompletionClient({ model: "llama3.2" }).identity).toMatchObject({ endpoint })
  })

  it("names the option that was meant", () => {
    expect(
      failureOf(() => new OllamaChatCompletionClient({ model: "x", baseUrl: "http://y" } as never)),
    ).toMatch(/^OPTION_INVALID: .*baseUrl is not an option; did you mean baseURL\?/)
  })

  it("knows what is left only of a context whose size it was told", async () => {
    const messages = [{ type: "UserMessage", content: "Hi", source: "user" }] as const
    const client = new OllamaChatCompletionClient({ model: "x", options: { num_ctx: 100 } })
    expect(await client.remainingTokens(messages)).toBeLessThan(100)
    const vague = new OllamaChatCompletionClient({ model: "x" })
    await expectFailure(vague.remainingTokens(messages), "OPTION_INVALID", /contextTokens/)
  })

  it("becomes data without its headers, and is made from it again", () => {
    const client = new OllamaChatCompletionClient({
      model: "qwen3:8b",
      baseURL: "http://gpu:11434",
      headers: { authorization: TEST_KEY },
      options: { num_ctx: 4096 },
      think: true,
    })
    const data = client.toComponent()
    expect(JSON.stringify(data)).not.toContain(TEST_KEY)
    const registry = new ComponentRegistry([ollamaChatCompletionClientComponent])
    expect(registry.load(data, OllamaChatCompletionClient).toComponent()).toEqual(data)
  })
})
