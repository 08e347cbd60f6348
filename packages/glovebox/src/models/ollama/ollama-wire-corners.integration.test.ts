import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import type { CreateResult, FunctionCall, LLMMessage } from "../index.ts"
import { atEveryCut } from "../in-pieces.test-kit.ts"
import { ModelServer } from "../model-server.test-kit.ts"
import { OllamaChatCompletionClient, type OllamaChatCompletionClientOptions } from "./index.ts"
import { line, ollamaWire } from "./ollama-wire.test-kit.ts"

let server: ModelServer
let baseURL: string

beforeEach(async () => {
  server = new ModelServer(ollamaWire)
  baseURL = await server.start()
})

afterEach(async () => {
  await server.shut()
})

const HI: LLMMessage[] = [{ type: "UserMessage", content: "Hi", source: "user" }]
const tools = [
  { name: "f", parameters: { type: "object", $defs: {} } },
  { name: "g", description: "d" },
]

function client(options: Partial<OllamaChatCompletionClientOptions> = {}): OllamaChatCompletionClient {
  return new OllamaChatCompletionClient({ model: "llama3.2", baseURL, maxRetries: 0, ...options })
}

async function bodyOf(
  messages: readonly LLMMessage[],
  call: Parameters<OllamaChatCompletionClient["create"]>[1] = {},
  options: Partial<OllamaChatCompletionClientOptions> = {},
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

describe("OllamaChatCompletionClient's request", () => {
  it("has nothing in it that was not asked for", async () => {
    expect(await bodyOf(HI)).toEqual({
      model: "llama3.2",
      messages: [{ role: "user", content: "Hi" }],
      stream: false,
    })
  })

  it("has all options in the API's places", async () => {
    const options = { options: { temperature: 0, num_ctx: 8192 }, keepAlive: "5m", think: "low" } as const
    const call = { extraCreateArgs: { options: { seed: 3 }, logprobs: true } }
    expect(await bodyOf(HI, call, options)).toMatchObject({
      options: { temperature: 0, num_ctx: 8192, seed: 3 },
      keep_alive: "5m",
      think: "low",
      logprobs: true,
    })
  })

  it("offers the tools that may be called, with their whole schemas", async () => {
    const all = await bodyOf(HI, { tools })
    expect(all["tools"]).toEqual([
      {
        type: "function",
        function: { name: "f", description: "", parameters: { type: "object", $defs: {} } },
      },
      {
        type: "function",
        function: { name: "g", description: "d", parameters: { type: "object", properties: {} } },
      },
    ])
    expect(await bodyOf(HI, { tools, toolChoice: "none" })).not.toHaveProperty("tools")
    server.script({ type: "answer", calls: [{ id: "", name: "g", arguments: "{}" }] })
    await client().create(HI, { tools, toolChoice: { name: "g" } })
    expect(server.lastBody()["tools"]).toMatchObject([{ function: { name: "g" } }])
  })

  it("tells when the model did not call the tool it had to", async () => {
    for (const toolChoice of ["required", { name: "f" }] as const) {
      server.script({ type: "answer", pieces: ["I would rather not."] })
      await expectFailure(
        client().create(HI, { tools, toolChoice }),
        "MODEL_RESPONSE_INVALID",
        /Ollama cannot enforce/,
      )
    }
  })

  it("has the form of the answer", async () => {
    expect(await bodyOf(HI, { jsonOutput: true })).toMatchObject({ format: "json" })
    expect(await bodyOf(HI, { jsonOutput: z.object({ a: z.int() }) })).toMatchObject({
      format: { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
    })
  })

  it("has calls with their arguments as objects, and results with the tool's name", async () => {
    const messages: LLMMessage[] = [
      ...HI,
      {
        type: "AssistantMessage",
        content: [
          { id: "1", name: "f", arguments: '{"a":1}' },
          { id: "2", name: "f", arguments: "{" },
        ],
        thought: "Hm.",
        source: "x",
      },
      { type: "FunctionExecutionResultMessage", content: [{ callId: "1", name: "f", content: "one" }] },
    ]
    expect((await bodyOf(messages))["messages"]).toEqual([
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: "",
        thinking: "Hm.",
        tool_calls: [
          { id: "1", function: { name: "f", arguments: { a: 1 } } },
          { id: "2", function: { name: "f", arguments: { arguments: "{" } } },
        ],
      },
      { role: "tool", tool_name: "f", tool_call_id: "1", content: "one" },
    ])
  })
})

describe("Ollama's answer", () => {
  const end = line({ message: { role: "assistant", content: "" }, done: true, done_reason: "stop" })

  it("may have its reasoning in the text", async () => {
    server.script({ type: "answer", pieces: ["<think>Hm.</think>Four."] })
    expect(await client().create(HI)).toMatchObject({ content: "Four.", thought: "Hm." })
  })

  it("may have its reasoning in the text of a stream, and speak of the tag", async () => {
    const said = (...pieces: string[]): string[] => [
      ...pieces.map((content) => line({ message: { content }, done: false })),
      end,
    ]
    const { text, result } = await streamed(said("<th", "ink>Hm.</think", ">", "\nFour."))
    expect([text, result.content, result.thought]).toEqual(["Four.", "Four.", "Hm."])
    const tag = await streamed(said("It ends with </think> ", "always."))
    expect([tag.text, tag.result.content]).toEqual([
      "It ends with </think> always.",
      "It ends with </think> always.",
    ])
  })

  it("may have calls with the same id", async () => {
    const calls = [1, 2].map((a) => ({ id: "0", function: { name: "f", arguments: { a } } }))
    const { result } = await streamed([line({ message: { content: "", tool_calls: calls }, done: true })])
    expect(new Set((result.content as FunctionCall[]).map(({ id }) => id)).size).toBe(2)
  })

  it("may lack its counts and why it ended", async () => {
    const { text, result } = await streamed([line({ message: { content: "x" }, done: true })])
    expect([text, result]).toEqual([
      "x",
      {
        finishReason: "unknown",
        content: "x",
        usage: { promptTokens: 0, completionTokens: 0 },
        cached: false,
      },
    ])
  })

  it("may report an error after it has begun", async () => {
    const part = line({ message: { content: "x" }, done: false })
    await expectFailure(
      streamed([part, line({ error: "out of memory" })]),
      "MODEL_UNAVAILABLE",
      /out of memory/,
    )
  })

  it("may lack its last line end, and have empty lines", async () => {
    const { text } = await streamed([
      `\n${line({ message: { content: "x" }, done: false })}\r\n`,
      end.trimEnd(),
    ])
    expect(text).toBe("x")
  })

  it("is refused when it does not fit", async () => {
    await expectFailure(
      streamed([line({ message: { content: 7 }, done: false })]),
      "MODEL_RESPONSE_INVALID",
      /does not fit/,
    )
  })

  it("does not care where its bytes are cut", async () => {
    const bytes = Buffer.from(line({ message: { content: "ü👍" }, done: false }) + end)
    await atEveryCut(async (cut) => {
      const { text } = await streamed([bytes])
      expect(text, `cut at ${cut}`).toBe("ü👍")
    })
  })
})
