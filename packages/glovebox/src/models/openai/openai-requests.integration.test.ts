import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import type { LLMMessage } from "../index.ts"
import { ModelServer } from "../model-server.test-kit.ts"
import { ABLE, TEST_KEY } from "../server-subject.test-kit.ts"
import {
  AzureOpenAIChatCompletionClient,
  OpenAIChatCompletionClient,
  type OpenAIChatCompletionClientOptions,
} from "./index.ts"
import { openAIWire } from "./openai-wire.test-kit.ts"

let server: ModelServer
let baseURL: string

beforeEach(async () => {
  server = new ModelServer(openAIWire)
  baseURL = await server.start()
})

afterEach(async () => {
  await server.shut()
})

const ask = (content: string, source = "user"): LLMMessage => ({ type: "UserMessage", content, source })

/** The body of the request that a client sends. */
async function bodyOf(
  options: Partial<OpenAIChatCompletionClientOptions>,
  messages: readonly LLMMessage[] = [ask("Hi")],
  call: Parameters<OpenAIChatCompletionClient["create"]>[1] = {},
): Promise<Record<string, unknown>> {
  server.script({ type: "answer", pieces: ["ok"] })
  const client = new OpenAIChatCompletionClient({ model: "m", modelInfo: ABLE, baseURL, ...options })
  await client.create(messages, call)
  return server.lastBody()
}

describe("OpenAIChatCompletionClient's request", () => {
  it("has nothing in it that was not asked for", async () => {
    expect(await bodyOf({})).toEqual({
      model: "m",
      messages: [{ role: "user", content: "Hi", name: "user" }],
      stream: false,
    })
  })

  it("has all options in the API's names", async () => {
    const options = {
      temperature: 0.5,
      topP: 0.9,
      maxTokens: 100,
      stop: ["END"],
      seed: 7,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      topLogprobs: 2,
      extraCreateArgs: { service_tier: "flex", top_k: 40 },
    }
    expect(await bodyOf(options, undefined, { extraCreateArgs: { top_k: 1 } })).toMatchObject({
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 100,
      stop: ["END"],
      seed: 7,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      logprobs: true,
      top_logprobs: 2,
      service_tier: "flex",
      top_k: 1,
    })
  })

  it("names the bound of the answer as the family does", async () => {
    const body = await bodyOf({
      maxTokens: 10,
      reasoningEffort: "low",
      modelInfo: { ...ABLE, family: "gpt-5" },
    })
    expect(body).toMatchObject({ max_completion_tokens: 10, reasoning_effort: "low" })
    expect(body).not.toHaveProperty("max_tokens")
  })

  it("has tools, the choice and whether they may be parallel only together", async () => {
    const options = { parallelToolCalls: false }
    const bare = await bodyOf(options, undefined, { toolChoice: "none" })
    for (const field of ["tools", "tool_choice", "parallel_tool_calls"])
      expect(bare).not.toHaveProperty(field)
    const tools = [
      { name: "plain" },
      { name: "exact", description: "d", parameters: { type: "object" }, strict: true },
    ]
    expect(await bodyOf(options, undefined, { tools, toolChoice: { name: "exact" } })).toMatchObject({
      tools: [
        {
          type: "function",
          function: { name: "plain", description: "", parameters: { type: "object", properties: {} } },
        },
        {
          type: "function",
          function: { name: "exact", description: "d", parameters: { type: "object" }, strict: true },
        },
      ],
      tool_choice: { type: "function", function: { name: "exact" } },
      parallel_tool_calls: false,
    })
  })

  it.each([
    [
      "that wants everything",
      z.object({ name: z.string(), tags: z.array(z.object({ t: z.string() })) }),
      true,
    ],
    ["with something optional", z.object({ name: z.string(), age: z.number().optional() }), false],
    ["of any keys", z.object({ map: z.record(z.string(), z.number()) }), false],
  ])(
    "asks for strictness only where the provider can keep it: a schema %s",
    async (_name, schema, strict) => {
      const { response_format: format } = await bodyOf({}, undefined, { jsonOutput: schema })
      expect(format).toMatchObject({ type: "json_schema", json_schema: { name: "answer", strict } })
      expect(JSON.stringify(format)).not.toContain("$schema")
      expect(JSON.stringify(format)).toContain('"additionalProperties":false')
    },
  )

  it("takes JSON Schema itself, and JSON without a schema", async () => {
    const schema = { type: "object", properties: {}, additionalProperties: false }
    const given = await bodyOf({}, undefined, { jsonOutput: { name: "thing", schema, strict: false } })
    expect(given["response_format"]).toEqual({
      type: "json_schema",
      json_schema: { name: "thing", schema, strict: false },
    })
    expect(await bodyOf({}, undefined, { jsonOutput: true })).toMatchObject({
      response_format: { type: "json_object" },
    })
    expect(await bodyOf({}, undefined, { jsonOutput: false })).not.toHaveProperty("response_format")
  })

  it("names who spoke, in letters that the API takes, unless told otherwise", async () => {
    const said = [ask("Hi", "Dr. Who <x>")]
    expect(await bodyOf({}, said)).toMatchObject({ messages: [{ name: "Dr__Who__x_" }] })
    const unnamed = [{ includeNameInMessage: false }, { modelInfo: { ...ABLE, family: "mistral" } }]
    for (const options of unnamed) {
      expect((await bodyOf(options, said))["messages"]).toEqual([{ role: "user", content: "Hi" }])
    }
    expect(await bodyOf({ addNamePrefixes: true }, said)).toMatchObject({
      messages: [{ content: "Dr. Who <x> said:\nHi" }],
    })
  })

  it("has calls with their text or null, and one message for each result", async () => {
    const call = { id: "c1", name: "f", arguments: "{bad" }
    const messages: LLMMessage[] = [
      ask("Hi"),
      { type: "AssistantMessage", content: [call], source: "a" },
      {
        type: "FunctionExecutionResultMessage",
        content: [
          { callId: "c1", name: "f", content: "1" },
          { callId: "c2", name: "f", content: "2" },
        ],
      },
      { type: "AssistantMessage", content: [call], thought: "Again.", source: "a" },
    ]
    const toolCalls = [{ id: "c1", type: "function", function: { name: "f", arguments: "{bad" } }]
    expect((await bodyOf({}, messages))["messages"]).toEqual([
      { role: "user", content: "Hi", name: "user" },
      { role: "assistant", content: null, tool_calls: toolCalls },
      { role: "tool", tool_call_id: "c1", content: "1" },
      { role: "tool", tool_call_id: "c2", content: "2" },
      { role: "assistant", content: "Again.", tool_calls: toolCalls },
    ])
  })

  it("keeps to the rules of other families", async () => {
    const messages: LLMMessage[] = [
      ask("Hi"),
      ask(" "),
      ask(""),
      { type: "AssistantMessage", content: "Well,  ", source: "a" },
    ]
    const claude = await bodyOf({ modelInfo: { ...ABLE, family: "claude" } }, messages)
    expect(claude["messages"]).toEqual([
      { role: "user", content: "Hi", name: "user" },
      { role: "assistant", content: "Well," },
    ])
    const gemini = await bodyOf({ modelInfo: { ...ABLE, family: "gemini" } }, messages)
    expect(gemini).toMatchObject({
      messages: [{}, { content: " " }, { content: " " }, { content: "Well,  " }],
    })
  })

  it.each([
    [undefined, { include_usage: true }],
    [false, undefined],
  ])("asks for the usage of a stream, unless told not to: %s", async (includeUsage, expected) => {
    server.script({ type: "answer", pieces: ["ok"] })
    const client = new OpenAIChatCompletionClient({ model: "m", modelInfo: ABLE, baseURL, includeUsage })
    for await (const _item of client.createStream([ask("Hi")]));
    expect(server.lastBody()["stream_options"]).toEqual(expected)
  })

  it("carries the key, the organization and further headers, and no key where none was given", async () => {
    await bodyOf({ apiKey: TEST_KEY, organization: "org", project: "p", headers: { "x-extra": "1" } })
    expect(server.headers.at(-1)).toMatchObject({
      authorization: `Bearer ${TEST_KEY}`,
      "openai-organization": "org",
      "openai-project": "p",
      "x-extra": "1",
    })
    await bodyOf({})
    expect(server.headers.at(-1)).not.toHaveProperty("authorization")
  })
})

describe("AzureOpenAIChatCompletionClient's request", () => {
  const options = { model: "gpt-4o", azureDeployment: "my-gpt", apiVersion: "2024-10-21" }

  it("goes to the deployment, with the key", async () => {
    server.script({ type: "answer", pieces: ["ok"] })
    await new AzureOpenAIChatCompletionClient({
      ...options,
      azureEndpoint: baseURL,
      apiKey: TEST_KEY,
    }).create([ask("Hi")])
    expect(server.urls).toEqual(["/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"])
    expect(server.headers[0]).toMatchObject({ "api-key": TEST_KEY })
    expect(server.headers[0]).not.toHaveProperty("authorization")
  })

  it("goes with a token for each request, and no key of the environment", async () => {
    server.script({ type: "answer", pieces: ["ok"] }, { type: "answer", pieces: ["ok"] })
    let count = 0
    const azureADTokenProvider = async (): Promise<string> => `token-${(count += 1)}`
    const client = new AzureOpenAIChatCompletionClient({
      ...options,
      azureEndpoint: baseURL,
      azureADTokenProvider,
    })
    await client.create([ask("Hi")])
    await client.create([ask("Hi")])
    expect(server.headers.map(({ authorization }) => authorization)).toEqual([
      "Bearer token-1",
      "Bearer token-2",
    ])
  })
})
