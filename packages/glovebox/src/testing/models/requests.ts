import assert from "node:assert/strict"
import { z } from "zod"
import { type Image, type LLMMessage, type ModelInfo, image } from "../../models/index.ts"
import { rejectsWith } from "../expectations.ts"
import { type ModelSuite, ask, saying, weather } from "./model-suite.ts"

// A PNG of one pixel.
const pixel: Image = image(
  Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
)

function system(content: string): LLMMessage {
  return { type: "SystemMessage", content }
}

export function defineRequests({ it, subject }: ModelSuite): void {
  const { features } = subject

  it("takes a conversation of all kinds of messages, with an image", async (stage) => {
    stage.script(saying("A pixel."))
    const messages: LLMMessage[] = [
      { type: "SystemMessage", content: "Be brief." },
      { type: "UserMessage", content: "Hello", source: "Some one" },
      { type: "AssistantMessage", content: "Hi.", source: "assistant" },
      { type: "UserMessage", content: ["What is this?", pixel], source: "user" },
    ]
    const before = structuredClone(messages)
    const { content } = await stage.client({ modelInfo: { vision: true } }).create(messages)
    assert.equal(content, "A pixel.")
    assert.deepEqual(messages, before, "the messages are not changed")
    if (!features.http) return
    const [{ body } = { body: "" }] = stage.requests
    for (const text of ["Be brief.", "Hello", "Hi.", "What is this?", pixel.data]) {
      assert.ok(body.includes(text), `${text} is sent`)
    }
  })

  it("merges system messages that stand together, and refuses others, for models that take one", async (stage) => {
    stage.script(saying("ok"))
    const client = stage.client({ modelInfo: { multipleSystemMessages: false } })
    assert.equal((await client.create([system("One."), system("Two."), ...ask("Hi")])).content, "ok")
    await rejectsWith(
      client.create([system("One."), ...ask("Hi"), system("Two.")]),
      "MODEL_REQUEST_INVALID",
      /one system message/,
    )
  })

  it("refuses what the model cannot do, and sends nothing", async (stage) => {
    const without = (ability: keyof ModelInfo): ReturnType<typeof stage.client> =>
      stage.client({ modelInfo: { [ability]: false } })
    const seen: LLMMessage[] = [{ type: "UserMessage", content: [pixel], source: "user" }]
    const schema = z.object({ name: z.string() })
    await rejectsWith(without("vision").create(seen), "MODEL_REQUEST_INVALID", /vision/)
    await rejectsWith(
      without("functionCalling").create(ask("x"), { tools: [weather] }),
      "MODEL_REQUEST_INVALID",
      /functionCalling/,
    )
    await rejectsWith(
      without("jsonOutput").create(ask("x"), { jsonOutput: true }),
      "MODEL_REQUEST_INVALID",
      /jsonOutput/,
    )
    await rejectsWith(
      without("structuredOutput").create(ask("x"), { jsonOutput: schema }),
      "MODEL_REQUEST_INVALID",
      /structuredOutput/,
    )
    await rejectsWith(without("vision").createStream(seen).next(), "MODEL_REQUEST_INVALID", /vision/)
    assert.equal(stage.requests.length, 0)
  })

  it("refuses what is no list of messages", async (stage) => {
    const client = stage.client()
    const wrong: unknown[] = [
      undefined,
      "Hi",
      [],
      [{ type: "UserMessage" }],
      [{ type: "Other", content: "x" }],
      [null],
    ]
    for (const messages of wrong)
      await rejectsWith(client.create(messages as never), "MODEL_REQUEST_INVALID", /messages/)
    await rejectsWith(
      client.create(ask("x"), { extraCreateArgs: "fast" as never }),
      "MODEL_REQUEST_INVALID",
      /extraCreateArgs/,
    )
    assert.equal(stage.requests.length, 0)
  })

  it("asks for an answer that fits a schema", async (stage) => {
    stage.script(saying('{"name":"Ada"}'))
    const schema = z.object({ name: z.string().describe("the person's name") })
    const client = stage.client({ modelInfo: { structuredOutput: true } })
    const { content } = await client.create(ask("Who?"), { jsonOutput: schema })
    assert.equal(content, '{"name":"Ada"}')
    if (features.http) assert.match(stage.requests[0]?.body ?? "", /the person's name/)
  })

  if (features.jsonMode) {
    it("asks for JSON", async (stage) => {
      stage.script(saying("{}"))
      await stage
        .client({ modelInfo: { jsonOutput: true } })
        .create(ask("JSON, please"), { jsonOutput: true })
      if (features.http) assert.match(stage.requests[0]?.body ?? "", /"json(?:_object)?"/)
    })
  }

  if (features.http) {
    it("adds fields in the provider's names, but none of its own", async (stage) => {
      stage.script(saying("ok"))
      const client = stage.client()
      await client.create(ask("x"), { extraCreateArgs: { some_new_field: { deep: [1] } } })
      assert.match(stage.requests[0]?.body ?? "", /"some_new_field":\{"deep":\[1\]\}/)
      await rejectsWith(
        client.create(ask("x"), { extraCreateArgs: { stream: true } }),
        "MODEL_REQUEST_INVALID",
        /stream/,
      )
    })
  }
}
