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

  it("takes an empty key for none, and refuses one that no header can hold, without showing it", () => {
    for (const apiKey of ["", " \n"]) {
      expect(failureOf(() => new OpenAIChatCompletionClient({ model: "gpt-4o", apiKey }))).toMatch(
        /^MODEL_KEY_MISSING/,
      )
    }
    const make = (options: object) => () => new OpenAIChatCompletionClient({ model: "gpt-4o", ...options })
    for (const options of [
      { apiKey: "secret\nword" },
      { apiKey: "secret word" },
      { apiKey: "k", headers: { "x-key": "secret\r\nword: 1" } },
      { apiKey: "k", headers: { "x key": "secret" } },
    ]) {
      const failure = failureOf(make(options))
      expect(failure).toMatch(/^OPTION_INVALID: /)
      expect(failure).not.toMatch(/secret|word/)
    }
    vi.stubEnv("OPENAI_API_KEY", "secret\nword")
    expect(failureOf(make({}))).toMatch(
      /^OPTION_INVALID: The variable OPENAI_API_KEY is no key: (?!.*secret)/,
    )
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
    ["http://me:secret-word/secret-word@host:99999/", /is no http or https address/],
    ["ftp://host/?key=secret-word", /is no http or https address/],
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
      idleTimeoutMs: 700,
      maxRetries: 1,
      retryDelayMs: 20,
      project: "p",
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
        idle_timeout: 0.7,
        retry_delay: 0.02,
        project: "p",
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

  it("takes the environment's key for Azure's addresses and the environment's own, and for no other", () => {
    vi.stubEnv("AZURE_OPENAI_API_KEY", TEST_KEY)
    const make = (azureEndpoint: string) => () =>
      new AzureOpenAIChatCompletionClient({ ...options, apiKey: undefined, azureEndpoint })
    for (const address of [
      "https://evil.example",
      "http://x.openai.azure.com",
      "https://x.openai.azure.com.evil.example",
      "https://evil.example/x.openai.azure.com/",
    ]) {
      expect(failureOf(make(address))).toMatch(/^MODEL_KEY_MISSING/)
    }
    expect(make("https://x.openai.azure.com/")().modelInfo.family).toBe("gpt-4o")
    vi.stubEnv("AZURE_OPENAI_ENDPOINT", "https://proxy.example")
    expect(make("https://proxy.example/")().modelInfo.family).toBe("gpt-4o")
  })

  it("becomes data without its key, and is made from it again", () => {
    const client = new AzureOpenAIChatCompletionClient({ ...options, azureDeployment: "mine" })
    const data = client.toComponent()
    expect(JSON.stringify(data)).not.toContain(TEST_KEY)
    vi.stubEnv("AZURE_OPENAI_API_KEY", "another")
    expect(registry.load(data, AzureOpenAIChatCompletionClient).toComponent()).toEqual(data)
  })
})
