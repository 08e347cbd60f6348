import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import type { CreateResult, FunctionCall, LLMMessage } from "../index.ts"
import { atEveryCut } from "../in-pieces.test-kit.ts"
import { ModelServer } from "../model-server.test-kit.ts"
import { ABLE } from "../server-subject.test-kit.ts"
import { OpenAIChatCompletionClient } from "./index.ts"
import { delta, event, openAIWire } from "./openai-wire.test-kit.ts"

let server: ModelServer
let baseURL: string

beforeEach(async () => {
  server = new ModelServer(openAIWire)
  baseURL = await server.start()
})

afterEach(async () => {
  await server.shut()
})

const HI: LLMMessage[] = [{ type: "UserMessage", content: "Hi", source: "user" }]

function client(family = "unknown"): OpenAIChatCompletionClient {
  return new OpenAIChatCompletionClient({
    model: "m",
    modelInfo: { ...ABLE, family },
    baseURL,
    maxRetries: 0,
  })
}

async function whole(body: unknown, family?: string): Promise<CreateResult> {
  server.script({ type: "raw", parts: [JSON.stringify(body)] })
  return client(family).create(HI)
}

async function streamed(
  parts: readonly (string | Uint8Array)[],
  family?: string,
): Promise<{ text: string; result: CreateResult }> {
  server.script({ type: "raw", parts })
  let text = ""
  for await (const item of client(family).createStream(HI)) {
    if (typeof item !== "string") return { text, result: item }
    text += item
  }
  throw new Error("the stream had no result")
}

const choice = (message: object, rest: object = {}): object => ({
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop", ...rest }],
})

describe("an answer of a server that is like OpenAI's", () => {
  it("may lack its usage, its logprobs and why it ended", async () => {
    expect(await whole({ choices: [{ message: { content: "x" } }] })).toEqual({
      finishReason: "unknown",
      content: "x",
      usage: { promptTokens: 0, completionTokens: 0 },
      cached: false,
    })
    expect((await whole({ ...choice({ content: "x" }), usage: null })).usage.promptTokens).toBe(0)
  })

  it("may have arguments that are an object, names with odd letters, and calls without ids", async () => {
    const calls = [
      { function: { name: "a b", arguments: { x: 1 } } },
      { id: "", function: { name: "f", arguments: "" } },
    ]
    const { content } = await whole(choice({ content: "", tool_calls: calls }))
    expect(content).toEqual([
      { id: expect.stringMatching(/^call_./), name: "a_b", arguments: '{"x":1}' },
      { id: expect.stringMatching(/^call_./), name: "f", arguments: "{}" },
    ])
    expect(content[0]).not.toHaveProperty("id", (content[1] as FunctionCall).id)
  })

  it("is a text when its list of calls is empty, whatever it says of its end", async () => {
    const result = await whole(choice({ content: "x", tool_calls: [] }, { finish_reason: "tool_calls" }))
    expect(result).toMatchObject({ content: "x", finishReason: "stop" })
  })

  it("has calls, whatever it says of its end", async () => {
    const call = { id: "1", type: "function", function: { name: "f", arguments: "{}" } }
    expect(await whole(choice({ content: null, tool_calls: [call] }))).toMatchObject({
      finishReason: "function_calls",
    })
  })

  it("may be a refusal, or come in parts", async () => {
    expect(await whole(choice({ content: null, refusal: "No." }))).toMatchObject({
      content: "No.",
      finishReason: "content_filter",
    })
    const parts = [
      { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
      { type: "text", text: "Yes" },
      { type: "text", text: "." },
    ]
    expect(await whole(choice({ content: parts }))).toMatchObject({ content: "Yes.", thought: "Hm." })
  })

  it.each(["reasoning_content", "reasoning"])("may have its reasoning as %s", async (field) => {
    expect(await whole(choice({ content: "x", [field]: "think, <think>" }))).toMatchObject({
      content: "x",
      thought: "think, <think>",
    })
  })

  it.each([
    ["<think>\nthink first\n</think>\n\nFour.", "Four.", "think first"],
    ["no tag of its own</think>Four.", "Four.", "no tag of its own"],
    ["<think></think>Four.", "Four.", undefined],
    ["<think>never closed", "<think>never closed", undefined],
    ["Four. <think>late</think>", "Four. <think>late</think>", undefined],
  ])("of the family r1 may have it in the text: %s", async (content, text, thought) => {
    const result = await whole(choice({ content }), "r1")
    expect([result.content, result.thought]).toEqual([text, thought])
    expect((await whole(choice({ content }), "gpt-4o")).content).toBe(content)
  })

  it("has the probabilities of its tokens", async () => {
    const tokens = [
      {
        token: "Hi",
        logprob: -0.1,
        bytes: [72, 105],
        top_logprobs: [{ token: "Hi", logprob: -0.1, bytes: null }],
      },
      { token: "!", logprob: -0.2, bytes: null, top_logprobs: [] },
    ]
    const expected = [
      { token: "Hi", logprob: -0.1, bytes: [72, 105], topLogprobs: [{ token: "Hi", logprob: -0.1 }] },
      { token: "!", logprob: -0.2 },
    ]
    expect((await whole(choice({ content: "Hi!" }, { logprobs: { content: tokens } }))).logprobs).toEqual(
      expected,
    )
    const chunk = (token: unknown): string =>
      event({
        choices: [{ index: 0, delta: { content: "x" }, logprobs: { content: [token] }, finish_reason: null }],
      })
    const { result } = await streamed([...tokens.map(chunk), delta({}, "stop")])
    expect(result.logprobs).toEqual(expected)
  })

  it("may be an error, though its status says success", async () => {
    const report = (error: object): Promise<CreateResult> => whole({ error })
    await expectFailure(report({ message: "slow down", code: 429 }), "MODEL_RATE_LIMITED", /slow down/)
    await expectFailure(
      report({ message: "too long", code: "context_length_exceeded" }),
      "MODEL_REQUEST_INVALID",
    )
    await expectFailure(report({ message: "broken" }), "MODEL_UNAVAILABLE", /broken/)
  })

  it.each<[string, unknown]>([
    ["no choices", { choices: [] }],
    ["no message", { choices: [{}] }],
    ["a list", []],
    ["calls without names", choice({ content: "", tool_calls: [{ id: "1", function: {} }] })],
  ])("is refused when it has %s", async (_name, body) => {
    await expectFailure(whole(body), "MODEL_RESPONSE_INVALID", /does not fit/)
  })
})

describe("a stream of a server that is like OpenAI's", () => {
  const call = (
    index: number | undefined,
    id: string | undefined,
    name: string | undefined,
    args: string,
  ): string => delta({ tool_calls: [{ index, id, function: { name, arguments: args } }] })

  it.each([
    [
      "without numbers",
      [
        call(undefined, "a", "f", '{"x"'),
        call(undefined, undefined, undefined, ":1}"),
        call(undefined, "b", "g", "{}"),
      ],
    ],
    ["with the same number for parallel calls", [call(0, "a", "f", '{"x":1}'), call(0, "b", "g", "{}")]],
    [
      "that repeats names and ids",
      [call(0, "a", "f", '{"x"'), call(0, "a", "f", ":1}"), call(1, "b", "g", "{}"), call(1, "b", "g", "")],
    ],
    [
      "without numbers and ids",
      [call(undefined, undefined, "f", '{"x":1}'), call(undefined, undefined, "g", "{}")],
    ],
    [
      "without ids, and one number",
      [call(0, "", "f", '{"x"'), call(0, "", "f", ":1}"), call(0, "", "g", "{}")],
    ],
    [
      "that mixes its calls without numbers",
      [
        call(undefined, "a", "f", '{"x"'),
        call(undefined, "b", "g", "{"),
        call(undefined, "a", undefined, ":1}"),
        call(undefined, "b", undefined, "}"),
      ],
    ],
    [
      "whose names are cut",
      [call(0, "a", "", ""), call(0, undefined, "f", '{"x":1}'), call(1, "b", "g", "{}")],
    ],
    [
      "that mixes its calls",
      [
        call(0, "a", "f", '{"x"'),
        call(1, "b", "g", "{"),
        call(0, undefined, undefined, ":1}"),
        call(1, undefined, undefined, "}"),
      ],
    ],
  ])("may have calls %s", async (_name, parts) => {
    const { result } = await streamed([...parts, delta({}, "tool_calls")])
    expect(result.content).toMatchObject([
      { name: "f", arguments: '{"x":1}' },
      { name: "g", arguments: "{}" },
    ])
    const ids = (result.content as FunctionCall[]).map(({ id }) => id)
    const isNumbered = parts.some((part) => part.includes('"id":"a"'))
    expect(ids.map((id) => id.replace(/^call_.+/, "made up"))).toEqual(
      isNumbered ? ["a", "b"] : ["made up", "made up"],
    )
    expect(ids[0]).not.toBe(ids[1])
  })

  it("may call one tool twice, without ids or with the same", async () => {
    for (const id of [undefined, "same"]) {
      const parts = id
        ? [call(0, id, "f", "{}"), call(1, id, "f", "{}")]
        : [call(0, id, "f", "{}"), call(0, id, "f", "{}")]
      const { content } = (await streamed([...parts, delta({}, "tool_calls")])).result
      expect(content).toMatchObject([{ name: "f" }, { name: "f" }])
      expect(new Set((content as FunctionCall[]).map((wish) => wish.id)).size).toBe(2)
    }
  })

  it("may be a refusal", async () => {
    const { text, result } = await streamed([
      delta({ refusal: "I " }),
      delta({ refusal: "won't." }),
      delta({}, "stop"),
    ])
    expect([text, result.content, result.finishReason]).toEqual(["I won't.", "I won't.", "content_filter"])
  })

  it("of a family that writes its reasoning into the text does not show it", async () => {
    const parts = ["<thi", "nk>Hm", ".</th", "ink>\n\nFo", "ur"].map((content) => delta({ content }))
    const { text, result } = await streamed([...parts, delta({}, "stop")], "qwen3")
    expect([text, result.content, result.thought]).toEqual(["Four", "Four", "Hm."])
    const plain = await streamed([...parts, delta({}, "stop")])
    expect(plain.text).toBe(plain.result.content)
  })

  it("may bring its usage with the last piece, in each, or after an empty one", async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 2 }
    const piece = (finish: string | null, used?: object): string =>
      event({
        choices: [{ index: 0, delta: { content: "x" }, finish_reason: finish }],
        ...(used ? { usage: used } : {}),
      })
    const ways = [
      [piece(null), piece("length", usage)],
      [piece(null, { prompt_tokens: 7, completion_tokens: 1 }), piece("length", usage)],
      [
        event({ choices: [], prompt_filter_results: [] }),
        piece(null),
        piece("length"),
        event({ choices: [], usage }),
      ],
    ]
    for (const parts of ways) {
      const { text, result } = await streamed(parts)
      expect(result).toMatchObject({
        finishReason: "length",
        usage: { promptTokens: 7, completionTokens: 2 },
      })
      expect(text).toBe("xx")
    }
  })

  it("may have comments, other line ends, and other choices", async () => {
    const second = event({ choices: [{ index: 1, delta: { content: "no" }, finish_reason: null }] })
    const { text } = await streamed([
      ": keep-alive\n\n",
      delta({ content: "y" }).replaceAll("\n", "\r\n"),
      second,
      delta({ content: "es" }),
      delta({}, "stop"),
      "data: [DONE]\r\n\r\n",
    ])
    expect(text).toBe("yes")
  })

  it("keeps reasoning out of the text", async () => {
    const { text, result } = await streamed([
      delta({ reasoning_content: "Hm" }),
      delta({ reasoning: ", so" }),
      delta({ content: "Four" }),
      delta({}, "stop"),
    ])
    expect([text, result.content, result.thought]).toEqual(["Four", "Four", "Hm, so"])
  })

  it("may report an error after it has begun", async () => {
    const error = (type: string): string => event({ error: { message: "too busy", type } })
    await expectFailure(
      streamed([delta({ content: "x" }), error("server_error")]),
      "MODEL_UNAVAILABLE",
      /too busy/,
    )
    await expectFailure(
      streamed([delta({ content: "x" }), error("rate_limit_error")]),
      "MODEL_RATE_LIMITED",
      /too busy/,
    )
    const numbered = event({ error: { message: "no such key", code: 401 }, choices: [] })
    await expectFailure(streamed([delta({ content: "x" }), numbered]), "MODEL_KEY_REFUSED", /no such key/)
  })

  it("does not care where its bytes are cut", async () => {
    const piece = event({ choices: [{ delta: { content: "ü👍" } }] })
    const wish = event({
      choices: [
        {
          delta: { tool_calls: [{ id: "a", function: { name: "f", arguments: '{"x":"ß"}' } }] },
          finish_reason: "x",
        },
      ],
    })
    const bytes = Buffer.from(piece + wish.replaceAll("\n", "\r\n"))
    await atEveryCut(async (cut) => {
      const { text, result } = await streamed([bytes])
      expect([text, result.content], `cut at ${cut}`).toEqual([
        "ü👍",
        [{ id: "a", name: "f", arguments: '{"x":"ß"}' }],
      ])
    })
  })
})
