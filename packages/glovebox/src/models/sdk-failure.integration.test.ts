import { APIError as AnthropicError } from "@anthropic-ai/sdk"
import { APIError as OpenAIError } from "openai"
import { describe, expect, it } from "vitest"
import { OpenAIChatCompletionClient } from "./openai/index.ts"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { sdkFailure } from "./sdk-failure.ts"
import { ABLE } from "./server-subject.test-kit.ts"

describe("sdkFailure()", () => {
  it.each([
    ["vLLM's page", { detail: "Not Found" }, true],
    ["llama.cpp's page", { error: { code: 404, message: "File Not Found", type: "not_found_error" } }, true],
    ["Azure's page", { error: { code: "404", message: "Resource not found" } }, true],
    [
      "OpenAI's model",
      { error: { code: "model_not_found", message: "The model `x` does not exist" } },
      false,
    ],
    [
      "Azure's deployment",
      { error: { code: "DeploymentNotFound", message: "The API deployment does not exist" } },
      false,
    ],
    ["Anthropic's model", { type: "error", error: { type: "not_found_error", message: "model: x" } }, false],
  ])("tells by a 404 whether the address is wrong: %s", (_name, body, isForeign) => {
    const headers = new Headers()
    for (const error of [
      OpenAIError.generate(404, body, undefined, headers),
      AnthropicError.generate(404, body, undefined, headers),
    ]) {
      expect(sdkFailure(error)).toMatchObject({ status: 404, isForeign })
    }
  })

  it("says what the provider said, without the JSON around it", () => {
    const body = { type: "error", error: { type: "rate_limit_error", message: "slow down" } }
    const headers = new Headers({ "retry-after": "2" })
    for (const error of [
      OpenAIError.generate(429, body, undefined, headers),
      AnthropicError.generate(429, body, undefined, headers),
    ]) {
      expect(sdkFailure(error)).toMatchObject({ status: 429, message: "slow down", retryAfterMs: 2000 })
    }
  })
})

it("a port that fetch refuses is told as such", async () => {
  const client = new OpenAIChatCompletionClient({
    model: "m",
    modelInfo: ABLE,
    baseURL: "http://127.0.0.1:6000",
  })
  const hi = [{ type: "UserMessage", content: "Hi", source: "user" }] as const
  await expectFailure(client.create(hi), "MODEL_UNAVAILABLE", /ERR_BAD_PORT/)
})
