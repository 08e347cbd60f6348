import assert from "node:assert/strict"
import { type ModelSuite, ask, drain, saying } from "./model-suite.ts"

const UNICODE = 'Grüße, 世界, 👩‍👩‍👧 and \u0000"\\\n</s>'

export function defineAnswers({ it, subject }: ModelSuite): void {
  const { features } = subject

  it("gives the text, why it ended and what it used", async (stage) => {
    stage.script({
      type: "answer",
      pieces: ["Hello, ", "you."],
      usage: { promptTokens: 11, completionTokens: 4 },
    })
    const client = stage.client()
    assert.deepEqual(await client.create(ask("Hi")), {
      finishReason: "stop",
      content: "Hello, you.",
      usage: { promptTokens: 11, completionTokens: 4 },
      cached: false,
    })
    assert.deepEqual(client.actualUsage(), { promptTokens: 11, completionTokens: 4 })
  })

  it("streams the text in its pieces, and then the same result", async (stage) => {
    stage.script({
      type: "answer",
      pieces: ["Hello, ", "you."],
      usage: { promptTokens: 11, completionTokens: 4 },
    })
    const { pieces, result } = await drain(stage.client(), ask("Hi"))
    assert.deepEqual(pieces, ["Hello, ", "you."])
    assert.deepEqual(result, {
      finishReason: "stop",
      content: "Hello, you.",
      usage: { promptTokens: 11, completionTokens: 4 },
      cached: false,
    })
  })

  it("keeps every character, whole and in a stream that arrives byte by byte", async (stage) => {
    stage.script(saying(UNICODE), saying(UNICODE))
    assert.equal((await stage.client().create(ask(UNICODE))).content, UNICODE)
    stage.splitBytes()
    const { pieces, result } = await drain(stage.client(), ask(`${UNICODE}!`))
    assert.equal(pieces.join(""), UNICODE)
    assert.equal(result.content, UNICODE)
  })

  it("tells when the answer was cut at its bound", async (stage) => {
    const cut = { type: "answer", pieces: ["Once upon"], finish: "length" } as const
    stage.script(cut, cut)
    assert.equal((await stage.client().create(ask("Tell"))).finishReason, "length")
    assert.equal((await drain(stage.client(), ask("Tell more"))).result.finishReason, "length")
  })

  it("gives an empty text for an empty answer", async (stage) => {
    stage.script(saying(), saying())
    assert.equal((await stage.client().create(ask("Be silent"))).content, "")
    const { pieces, result } = await drain(stage.client(), ask("Be silent again"))
    assert.deepEqual([pieces, result.content], [[], ""])
  })

  it("adds up what its calls used", async (stage) => {
    const answer = { type: "answer", pieces: ["a"], usage: { promptTokens: 5, completionTokens: 2 } } as const
    stage.script(answer, answer)
    const client = stage.client()
    await client.create(ask("one"))
    await drain(client, ask("two"))
    assert.deepEqual(client.actualUsage(), { promptTokens: 10, completionTokens: 4 })
    assert.deepEqual(client.totalUsage(), { promptTokens: 10, completionTokens: 4 })
  })

  it("keeps many calls at once apart", async (stage) => {
    const texts = Array.from({ length: 8 }, (_, index) => `answer ${index}`)
    stage.script(...texts.map((text) => saying(text)))
    const client = stage.client()
    const results = await Promise.all(
      texts.map((text, index) =>
        index % 2 === 0 ? client.create(ask(text)) : drain(client, ask(text)).then(({ result }) => result),
      ),
    )
    assert.deepEqual(new Set(results.map(({ content }) => content)), new Set(texts))
  })

  it("counts tokens, says how, and what is left", async (stage) => {
    const client = stage.client({ modelInfo: { contextTokens: 1000 } })
    const short = await client.countTokens(ask("hello"))
    const long = await client.countTokens(ask("hello ".repeat(50)))
    assert.ok(short.tokens > 0 && long.tokens > short.tokens + 20, JSON.stringify([short, long]))
    assert.match(short.tokenizer, /./)
    assert.equal(await client.remainingTokens(ask("hello")), 1000 - short.tokens)
  })

  if (features.thoughts) {
    it("keeps what the model thought apart from what it says", async (stage) => {
      const answer = { type: "answer", thought: "Hm, let me think.", pieces: ["Four."] } as const
      stage.script(answer, answer)
      const whole = await stage.client().create(ask("2 + 2"))
      const { pieces, result } = await drain(stage.client(), ask("2 + 2?"))
      assert.deepEqual([whole.content, whole.thought], ["Four.", "Hm, let me think."])
      assert.deepEqual([result.content, result.thought, pieces], ["Four.", "Hm, let me think.", ["Four."]])
    })
  }

  if (features.contentFilter) {
    it("tells when a filter ended the answer", async (stage) => {
      stage.script({ type: "answer", pieces: ["I"], finish: "content_filter" })
      assert.equal((await stage.client().create(ask("Bad"))).finishReason, "content_filter")
    })
  }
}
