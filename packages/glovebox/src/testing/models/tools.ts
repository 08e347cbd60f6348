import assert from "node:assert/strict"
import {
  type CreateResult,
  type FunctionCall,
  type LLMMessage,
  assistantMessage,
} from "../../models/index.ts"
import { rejectsWith } from "../expectations.ts"
import { type ModelSuite, ask, drain, saying, weather } from "./model-suite.ts"

const berlin: FunctionCall = { id: "call_1", name: "weather", arguments: '{"place":{"city":"Berlin"}}' }
const rome: FunctionCall = {
  id: "call_2",
  name: "weather",
  arguments: '{"place":{"city":"Rome \\"est\\" ü"}}',
}

/** The calls without their ids, which some providers do not give. */
function wishes({ content }: CreateResult): unknown[] {
  assert.ok(typeof content !== "string", "expected calls")
  return content.map(({ name, arguments: args }) => ({ name, arguments: JSON.parse(args) as unknown }))
}

export function defineTools({ it, subject }: ModelSuite): void {
  const expected = [berlin, rome].map((call) => ({
    name: call.name,
    arguments: JSON.parse(call.arguments) as unknown,
  }))

  it("gives the calls that the model wants, each with an id of its own", async (stage) => {
    stage.script({ type: "answer", calls: [berlin, rome] })
    const result = await stage.client().create(ask("Weather?"), { tools: [weather] })
    assert.equal(result.finishReason, "function_calls")
    assert.deepEqual(wishes(result), expected)
    assert.ok(typeof result.content !== "string")
    assert.equal(new Set(result.content.map(({ id }) => id)).size, 2)
  })

  it("gathers calls from a stream that arrives byte by byte", async (stage) => {
    stage.script({ type: "answer", calls: [berlin, rome] })
    stage.splitBytes()
    const { pieces, result } = await drain(stage.client(), ask("Weather?"), { tools: [weather] })
    assert.deepEqual(pieces, [])
    assert.deepEqual([result.finishReason, wishes(result)], ["function_calls", expected])
    assert.ok(typeof result.content !== "string")
    assert.equal(new Set(result.content.map(({ id }) => id)).size, 2)
  })

  it("keeps text beside calls as a thought", async (stage) => {
    const answer = { type: "answer", pieces: ["I will ", "look."], calls: [berlin] } as const
    stage.script(answer, answer)
    const whole = await stage.client().create(ask("Weather?"), { tools: [weather] })
    assert.deepEqual([whole.thought, wishes(whole)], ["I will look.", expected.slice(0, 1)])
    const { pieces, result } = await drain(stage.client(), ask("Weather!"), { tools: [weather] })
    assert.deepEqual([result.thought, wishes(result)], ["I will look.", expected.slice(0, 1)])
    if (subject.features.http) assert.equal(pieces.join(""), "I will look.")
  })

  it("carries a call and its results through the next request", async (stage) => {
    stage.script({ type: "answer", calls: [berlin, rome] }, saying("Sunny."))
    const client = stage.client()
    const question = ask("Weather?")
    const wish = await client.create(question, { tools: [weather] })
    assert.ok(typeof wish.content !== "string")
    const [first, second] = wish.content
    const history: LLMMessage[] = [
      ...question,
      assistantMessage(wish, "assistant"),
      {
        type: "FunctionExecutionResultMessage",
        content: [
          { callId: first?.id ?? "", name: "weather", content: "21 degrees" },
          { callId: second?.id ?? "", name: "weather", content: "no such city", isError: true },
        ],
      },
    ]
    assert.equal((await client.create(history, { tools: [weather] })).content, "Sunny.")
    // A conversation with calls in it is taken without tools, too.
    stage.script(saying("Still."))
    assert.equal((await client.create([...history, ...ask("And?")])).content, "Still.")
    if (!subject.features.http) return
    for (const { body } of stage.requests.slice(1)) {
      for (const text of ["21 degrees", "no such city", "Berlin"])
        assert.ok(body.includes(text), `${text} is sent`)
    }
  })

  if (subject.features.http) {
    it("sends a tool's schema whole", async (stage) => {
      stage.script(saying("ok"), saying("ok"))
      await stage.client().create(ask("Weather?"), { tools: [{ schema: weather }] })
      const [{ body } = { body: "" }] = stage.requests
      for (const text of [
        "weather",
        weather.description,
        '"$defs"',
        '"#/$defs/Place"',
        '"additionalProperties":false',
      ]) {
        assert.ok(body.includes(text ?? ""), `${text} is sent`)
      }
    })
  }

  it("refuses tools and choices that cannot be, and sends nothing", async (stage) => {
    const client = stage.client()
    const refused = async (options: Parameters<typeof client.create>[1], message: RegExp): Promise<void> => {
      await rejectsWith(client.create(ask("x"), options), "MODEL_REQUEST_INVALID", message)
    }
    await refused({ tools: [weather, weather] }, /Two tools/)
    await refused({ tools: [{ name: "no spaces" }] }, /letters, digits/)
    await refused({ tools: [weather], toolChoice: { name: "other" } }, /"other".*weather/)
    await refused({ toolChoice: "required" }, /no tools/)
    await refused({ tools: [weather], toolChoice: "any" as never }, /"any"/)
    assert.equal(stage.requests.length, 0)
  })

  it("takes every choice of tools", async (stage) => {
    const client = stage.client()
    for (const toolChoice of ["auto", "none", "required", { name: "weather" }] as const) {
      const isForced = toolChoice !== "auto" && toolChoice !== "none"
      stage.script(isForced ? { type: "answer", calls: [berlin] } : saying("fine"))
      const { content } = await client.create(ask(`with ${JSON.stringify(toolChoice)}`), {
        tools: [weather],
        toolChoice,
      })
      assert.equal(typeof content === "string", !isForced)
    }
  })
}
