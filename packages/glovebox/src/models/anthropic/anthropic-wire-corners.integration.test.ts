import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { type CreateResult, type LLMMessage, assistantMessage } from "../index.ts"
import { atEveryCut } from "../in-pieces.test-kit.ts"
import { ModelServer } from "../model-server.test-kit.ts"
import { TEST_KEY } from "../server-subject.test-kit.ts"
import { anthropicWire, event, start } from "./anthropic-wire.test-kit.ts"
import { AnthropicChatCompletionClient, type AnthropicChatCompletionClientOptions } from "./index.ts"

let server: ModelServer
let baseURL: string

beforeEach(async () => {
  server = new ModelServer(anthropicWire)
  baseURL = await server.start()
})

afterEach(async () => {
  await server.shut()
})

const ask = (content: string): LLMMessage => ({ type: "UserMessage", content, source: "user" })
const HI = [ask("Hi")]

function client(options: Partial<AnthropicChatCompletionClientOptions> = {}): AnthropicChatCompletionClient {
  return new AnthropicChatCompletionClient({
    model: "claude-opus-5",
    apiKey: TEST_KEY,
    baseURL,
    maxRetries: 0,
    ...options,
  })
}

async function bodyOf(
  messages: readonly LLMMessage[],
  call: Parameters<AnthropicChatCompletionClient["create"]>[1] = {},
  options: Partial<AnthropicChatCompletionClientOptions> = {},
): Promise<Record<string, unknown>> {
  server.script({ type: "answer", pieces: ["ok"] })
  await client(options).create(messages, call)
  return server.lastBody()
}

async function streamed(
  parts: readonly (string | Uint8Array)[],
): Promise<{ text: string; result: CreateResult }> {
  server.script({ type: "raw", parts })
  let text = ""
  for await (const item of client().createStream(HI)) {
    if (typeof item !== "string") return { text, result: item }
    text += item
  }
  throw new Error("the stream had no result")
}

describe("AnthropicChatCompletionClient's request", () => {
  it("has nothing in it that was not asked for", async () => {
    expect(await bodyOf(HI)).toEqual({
      model: "claude-opus-5",
      max_tokens: 4096,
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
      stream: false,
    })
    expect(server.headers.at(-1)).toMatchObject({ "anthropic-version": expect.any(String) })
    expect(JSON.stringify(server.headers.at(-1))).toContain(TEST_KEY)
  })

  it("has all options in the API's names", async () => {
    const thinking = { type: "enabled", budget_tokens: 1024 }
    const options = {
      maxTokens: 9,
      temperature: 0,
      topP: 0.5,
      stopSequences: ["END"],
      thinking,
      extraCreateArgs: { top_k: 4 },
    }
    const call = { extraCreateArgs: { thinking: { type: "disabled" } } }
    expect(await bodyOf(HI, call, options)).toMatchObject({
      max_tokens: 9,
      temperature: 0,
      top_p: 0.5,
      stop_sequences: ["END"],
      thinking: { type: "disabled" },
      top_k: 4,
    })
  })

  it("has the instructions apart, and one turn after another", async () => {
    const messages: LLMMessage[] = [
      { type: "SystemMessage", content: "One." },
      { type: "SystemMessage", content: "Two." },
      ask("a"),
      ask("b"),
      { type: "AssistantMessage", content: "  ", source: "x" },
      ask(" "),
      { type: "AssistantMessage", content: "Well,  ", source: "x" },
    ]
    expect(await bodyOf(messages)).toMatchObject({
      system: "One.\nTwo.",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
        },
        { role: "assistant", content: "(nothing)" },
        { role: "user", content: "(nothing)" },
        { role: "assistant", content: [{ type: "text", text: "Well," }] },
      ],
    })
  })

  it.each([
    ["auto", { type: "auto" }],
    ["none", { type: "none" }],
    ["required", { type: "any" }],
    [{ name: "f" }, { type: "tool", name: "f" }],
  ] as const)("has the choice %j of tools as %j", async (toolChoice, expected) => {
    const parameters = {
      type: "object",
      properties: { a: { $ref: "#/$defs/A" } },
      $defs: { A: { type: "string" } },
    }
    const tools = [{ name: "f", description: "d", parameters, strict: true }]
    expect(await bodyOf(HI, { tools, toolChoice })).toMatchObject({
      tools: [{ name: "f", description: "d", input_schema: parameters, strict: true }],
      tool_choice: expected,
    })
    const single = await bodyOf(HI, { tools, toolChoice }, { parallelToolCalls: false })
    const isSingle = toolChoice === "none" ? {} : { disable_parallel_tool_use: true }
    expect(single["tool_choice"]).toEqual({ ...expected, ...isSingle })
    expect(await bodyOf(HI, { toolChoice: "auto" })).not.toHaveProperty("tool_choice")
  })

  it("has results of one round in one turn, says which failed, and names the tools it was not given", async () => {
    const messages: LLMMessage[] = [
      ask("Hi"),
      {
        type: "AssistantMessage",
        content: [
          { id: "1", name: "f", arguments: "{}" },
          { id: "2", name: "g", arguments: "{bad" },
        ],
        thought: "Look.",
        source: "x",
      },
      {
        type: "FunctionExecutionResultMessage",
        content: [
          { callId: "1", name: "f", content: "one" },
          { callId: "2", name: "g", content: "no", isError: true },
        ],
      },
      ask("And?"),
    ]
    expect(await bodyOf(messages)).toMatchObject({
      messages: [
        { role: "user" },
        {
          role: "assistant",
          content: [
            { type: "text", text: "Look." },
            { type: "tool_use", id: "1", name: "f", input: {} },
            { type: "tool_use", id: "2", name: "g", input: { arguments: "{bad" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "1", content: "one" },
            { type: "tool_result", tool_use_id: "2", content: "no", is_error: true },
            { type: "text", text: "And?" },
          ],
        },
      ],
      tools: [{ name: "f" }, { name: "g" }],
      tool_choice: { type: "none" },
    })
  })

  it("has a schema for the answer, and refuses JSON without one", async () => {
    const schema = z.object({ a: z.string() })
    expect(await bodyOf(HI, { jsonOutput: schema })).toMatchObject({
      output_config: {
        format: { type: "json_schema", schema: { type: "object", additionalProperties: false } },
      },
    })
    await expectFailure(client().create(HI, { jsonOutput: true }), "MODEL_REQUEST_INVALID", /jsonOutput/)
    const old = client({ model: "claude-3-5-haiku-latest" })
    await expectFailure(old.create(HI, { jsonOutput: schema }), "MODEL_REQUEST_INVALID", /structuredOutput/)
  })

  it("gives reasoning back as it came, signed, and before the calls", async () => {
    const blocks = [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "redacted_thinking", data: "eHl6" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "1", name: "f", input: { a: 1 } },
    ]
    server.script({
      type: "raw",
      parts: [JSON.stringify({ type: "message", content: blocks, stop_reason: "tool_use" })],
    })
    const result = await client().create(HI, { tools: [{ name: "f" }] })
    expect(result).toMatchObject({ thought: "Hm.\n\nI look.", thoughtSignature: expect.any(String) })
    const results: LLMMessage = {
      type: "FunctionExecutionResultMessage",
      content: [{ callId: "1", name: "f", content: "1" }],
    }
    const { messages } = await bodyOf([...HI, assistantMessage(result, "x"), results])
    expect(messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: blocks },
      { role: "user" },
    ])
  })

  it("has all instructions, also of a model that takes them anywhere", async () => {
    const modelInfo = { ...client().modelInfo, multipleSystemMessages: true }
    const system = (content: string): LLMMessage => ({ type: "SystemMessage", content })
    const messages = [system("One."), ask("a"), system("Two.")]
    expect(await bodyOf(messages, {}, { modelInfo })).toMatchObject({ system: "One.\nTwo." })
    expect(await bodyOf([system(" "), ask("a")])).not.toHaveProperty("system")
  })

  it("has one form of the answer", async () => {
    const call = { jsonOutput: z.object({ a: z.string() }), extraCreateArgs: { output_config: {} } }
    await expectFailure(client().create(HI, call), "MODEL_REQUEST_INVALID", /output_config/)
  })

  it("leaves another provider's signature out", async () => {
    const foreign: LLMMessage = {
      type: "AssistantMessage",
      content: "x",
      thought: "Hm.",
      thoughtSignature: "[opaque",
      source: "x",
    }
    const { messages } = await bodyOf([...HI, foreign, ask("y")])
    expect(messages).toMatchObject([{}, { content: [{ type: "text", text: "x" }] }, {}])
  })
})

describe("Anthropic's answer", () => {
  it.each([
    { type: "text", text: 5 },
    { type: "tool_use", name: "f", input: {} },
    { type: "tool_use", id: "1", name: "f", input: "no object" },
    { type: "thinking" },
  ])("is refused when a block of a known kind does not fit: %j", async (block) => {
    server.script({ type: "raw", parts: [JSON.stringify({ type: "message", content: [block] })] })
    await expectFailure(client().create(HI), "MODEL_RESPONSE_INVALID", /does not fit/)
  })
})

describe("Anthropic's stream", () => {
  const end =
    event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } }) +
    event("message_stop", {})

  it("adds its counts up as sums so far", async () => {
    const { result } = await streamed([
      start({ input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 1 }),
      end,
    ])
    expect(result.usage).toEqual({ promptTokens: 7, completionTokens: 5 })
  })

  it("may have kinds of blocks and events that came later", async () => {
    const { text, result } = await streamed([
      start({}),
      event("content_block_start", {
        index: 0,
        content_block: { type: "server_tool_use", id: "1", name: "search", input: {} },
      }),
      event("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: "{}" } }),
      event("something_new", { data: 1 }),
      event("content_block_start", { index: 1, content_block: { type: "text", text: "Be" } }),
      event("content_block_delta", { index: 1, delta: { type: "text_delta", text: "gin" } }),
      event("content_block_delta", { index: 1, delta: { type: "citations_delta", citation: {} } }),
      end,
    ])
    expect([text, result.content, result.finishReason]).toEqual(["Begin", "Begin", "stop"])
  })

  it("keeps the arguments of a call that was cut off as they are", async () => {
    const { result } = await streamed([
      start({}),
      event("content_block_start", {
        index: 0,
        content_block: { type: "tool_use", id: "1", name: "f", input: {} },
      }),
      event("content_block_delta", {
        index: 0,
        delta: { type: "input_json_delta", partial_json: '{"a": "b' },
      }),
      event("message_delta", { delta: { stop_reason: "max_tokens" } }),
      event("message_stop", {}),
    ])
    expect(result.content).toEqual([{ id: "1", name: "f", arguments: '{"a": "b' }])
  })

  it("may report an error after it has begun", async () => {
    const error = (type: string): string => event("error", { error: { type, message: "too busy" } })
    await expectFailure(streamed([start({}), error("overloaded_error")]), "MODEL_UNAVAILABLE", /too busy/)
    await expectFailure(streamed([start({}), error("rate_limit_error")]), "MODEL_RATE_LIMITED", /too busy/)
  })

  it("is refused when a piece belongs nowhere", async () => {
    const lost = event("content_block_delta", { index: 3, delta: { type: "text_delta", text: "x" } })
    await expectFailure(streamed([start({}), lost, end]), "MODEL_RESPONSE_INVALID", /block 3/)
  })

  it("does not care where its bytes are cut", async () => {
    const bytes = Buffer.from(
      event("content_block_start", { index: 0, content_block: { type: "text", text: "ü" } }) +
        event("content_block_delta", { index: 0, delta: { text: "👍" } }).replaceAll("\n", "\r\n") +
        event("message_stop", {}),
    )
    await atEveryCut(async (cut) => {
      const { text, result } = await streamed([bytes])
      expect([text, result.content], `cut at ${cut}`).toEqual(["ü👍", "ü👍"])
    })
  })
})
