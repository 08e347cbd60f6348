import { inspect } from "node:util"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { ComponentRegistry } from "../../core/index.ts"
import { ABLE, TEST_KEY } from "../server-subject.test-kit.ts"
import {
  AzureOpenAIChatCompletionClient,
  OpenAIChatCompletionClient,
  azureOpenAIChatCompletionClientComponent,
  openAIChatCompletionClientComponent,
} from "./index.ts"

const NAMES = [
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "AZURE_OPENAI_API_KEY",
  "AZURE_OPENAI_ENDPOINT",
  "OPENAI_API_VERSION",
]

beforeEach(() => {
  for (const name of NAMES) vi.stubEnv(name, undefined)
})

afterEach(() => {
  vi.unstubAllEnvs()
})

const registry = new ComponentRegistry([
  openAIChatCompletionClientComponent,
  azureOpenAIChatCompletionClientComponent,
])

describe("OpenAIChatCompletionClient", () => {
  it("wants a key for OpenAI, from its options or the environment", () => {
    expect(failureOf(() => new OpenAIChatCompletionClient({ model: "gpt-4o" }))).toMatch(
      /^MODEL_KEY_MISSING: .*OPENAI_API_KEY/,
    )
    vi.stubEnv("OPENAI_API_KEY", TEST_KEY)
    expect(new OpenAIChatCompletionClient({ model: "gpt-4o" }).modelInfo.family).toBe("gpt-4o")
  })

  it("wants none for another address", () => {
    const client = new OpenAIChatCompletionClient({
      model: "m",
      modelInfo: ABLE,
      baseURL: "http://localhost:1/v1/",
    })
    expect(client.identity).toMatchObject({ endpoint: "http://localhost:1/v1" })
  })

  it.each([
    ["gpt-5-mini", "gpt-5", true],
    ["gpt-4.1-nano", "gpt-41", true],
    ["gpt-4o-2024-08-06", "gpt-4o", true],
    ["o3-mini", "o3", false],
    ["gpt-4", "gpt-4", false],
  ])("knows %s", (model, family, vision) => {
    expect(new OpenAIChatCompletionClient({ model, apiKey: "k" }).modelInfo).toMatchObject({ family, vision })
  })

  it("says what to do about a model it does not know", () => {
    expect(failureOf(() => new OpenAIChatCompletionClient({ model: "gtp-4o", apiKey: "k" }))).toMatch(
      /^MODEL_UNKNOWN: .*"gtp-4o".*Did you mean "gpt-4o"\?.*modelInfo/,
    )
  })

  it.each([
    ["nonsense", /is no http or https address/],
    ["ftp://host/", /is no http or https address/],
    ["http://", /is no http or https address/],
    ["https://me:secret-word@host/v1", /user name or password/],
    ["secret-word@host", /is no http or https address/],
    ["https://host/v1?key=secret-word", /query/],
  ])("refuses the address %s", (baseURL, message) => {
    const failure = failureOf(() => new OpenAIChatCompletionClient({ model: "m", modelInfo: ABLE, baseURL }))
    expect(failure).toMatch(/^MODEL_ENDPOINT_INVALID: /)
    expect(failure).toMatch(message)
    expect(failure).not.toContain("secret-word")
  })

  it("refuses options it does not have, names the one that was meant, and shows no value", () => {
    const make = (options: object) => () => new OpenAIChatCompletionClient({ model: "gpt-4o", ...options })
    expect(failureOf(make({ api_key: TEST_KEY }))).toBe(
      "OPTION_INVALID: The options of OpenAIChatCompletionClient are not valid: api_key is not an option; did you mean apiKey?",
    )
    expect(failureOf(make({ apiKey: 7, temperature: "hot", maxRetries: -1 }))).toMatch(
      /apiKey: .*maxRetries: .*temperature: /,
    )
    expect(failureOf(make({ model: "" }))).toMatch(/^OPTION_INVALID: .*model/)
  })

  it("becomes data without its key and headers, and is made from it again", () => {
    vi.stubEnv("OPENAI_API_KEY", TEST_KEY)
    const client = new OpenAIChatCompletionClient({
      model: "gpt-4o",
      apiKey: TEST_KEY,
      headers: { authorization: "Basic c2VjcmV0LXdvcmQ=" },
      temperature: 0.5,
      stop: ["END"],
      timeoutMs: 1500,
      maxRetries: 1,
      modelInfo: { ...ABLE, contextTokens: 99 },
      extraCreateArgs: { top_k: 1 },
    })
    const data = JSON.parse(JSON.stringify(client.toComponent())) as unknown
    const shown =
      JSON.stringify(data) + inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client.identity)
    expect(shown).not.toContain(TEST_KEY)
    expect(shown).not.toContain("c2VjcmV0LXdvcmQ=")
    expect(data).toMatchObject({
      provider: "glovebox.models.OpenAIChatCompletionClient",
      component_type: "model",
      config: {
        model: "gpt-4o",
        temperature: 0.5,
        timeout: 1.5,
        max_retries: 1,
        model_info: { context_tokens: 99 },
      },
    })
    const again = registry.load(data, OpenAIChatCompletionClient)
    expect(again.toComponent()).toEqual(client.toComponent())
    expect(again.identity).toEqual(client.identity)
  })

  it("is made from what AutoGen wrote", () => {
    const config = {
      model: "my-model",
      api_key: "**********",
      base_url: "http://localhost:11434/v1",
      model_info: { vision: false, function_calling: true, json_output: false, family: "unknown" },
      max_tokens: 5,
    }
    const client = registry.load(
      { provider: "autogen_ext.models.openai.OpenAIChatCompletionClient", config },
      OpenAIChatCompletionClient,
    )
    expect(client.modelInfo).toMatchObject({ functionCalling: true, structuredOutput: false })
    expect(client.identity).toMatchObject({ model: "my-model", options: { max_tokens: 5 } })
  })
})

describe("AzureOpenAIChatCompletionClient", () => {
  const options = {
    model: "gpt-4o",
    azureEndpoint: "https://x.openai.azure.com",
    apiVersion: "2024-10-21",
    apiKey: TEST_KEY,
  }

  it.each([
    ["apiKey", /^MODEL_KEY_MISSING: .*AZURE_OPENAI_API_KEY/],
    ["azureEndpoint", /^MODEL_ENDPOINT_INVALID: .*AZURE_OPENAI_ENDPOINT/],
    ["apiVersion", /^OPTION_INVALID: .*OPENAI_API_VERSION/],
  ])("wants %s", (name, message) => {
    expect(failureOf(() => new AzureOpenAIChatCompletionClient({ ...options, [name]: undefined }))).toMatch(
      message,
    )
  })

  it("becomes data without its key, and is made from it again", () => {
    const client = new AzureOpenAIChatCompletionClient({ ...options, azureDeployment: "mine" })
    const data = client.toComponent()
    expect(JSON.stringify(data)).not.toContain(TEST_KEY)
    vi.stubEnv("AZURE_OPENAI_API_KEY", "another")
    expect(registry.load(data, AzureOpenAIChatCompletionClient).toComponent()).toEqual(data)
  })
})
