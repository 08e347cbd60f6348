import assert from "node:assert/strict"
import { z } from "zod"
import type { ChatCompletionClient, CreateResult, LLMMessage } from "../models/index.ts"
import { rejectionOf } from "./expectations.ts"
import { ask, drain } from "./models/model-suite.ts"
import type { TestRunner } from "./test-runner.ts"

/** A real model under test. Its `modelInfo` decides on what is asked of it. */
export interface LiveModelSubject {
  readonly name: string
  readonly create: () => ChatCompletionClient
  /** Fields of a request that bound its answer to so many tokens. */
  readonly bound: (tokens: number) => Record<string, number>
}

const add = {
  name: "add",
  description: "Adds two whole numbers.",
  parameters: {
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "integer" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
}

/**
 * Defines tests that any real model passes, however small: they look at the form of its answers, not at their sense.
 */
export function liveModelConformance(runner: TestRunner, subject: LiveModelSubject): void {
  const withClient = (body: (client: ChatCompletionClient) => Promise<void>) => async () => {
    await using client = subject.create()
    await body(client)
  }
  const { modelInfo } = subject.create()
  const { describe, it } = runner

  describe(`a real model: ${subject.name}`, () => {
    it(
      "answers, and tells what it used",
      withClient(async (client) => {
        const result = await client.create(ask("Say hello."), { extraCreateArgs: subject.bound(200) })
        assert.ok(textOf(result).trim() !== "" || result.finishReason === "length", JSON.stringify(result))
        assert.match(result.finishReason, /^(?:stop|length)$/)
        assert.ok(
          result.usage.promptTokens > 0 && result.usage.completionTokens > 0,
          JSON.stringify(result.usage),
        )
        assert.deepEqual(client.totalUsage(), result.usage)
      }),
    )

    it(
      "streams the text of its result, and tells what it used",
      withClient(async (client) => {
        const { pieces, result } = await drain(client, ask("Count from one to five."), {
          extraCreateArgs: subject.bound(200),
        })
        // A model that thinks aloud has its thoughts among the pieces.
        assert.ok(pieces.join("").includes(textOf(result)), JSON.stringify([pieces, result]))
        assert.ok(result.usage.completionTokens > 0, JSON.stringify(result.usage))
      }),
    )

    it(
      "stops where it is told to",
      withClient(async (client) => {
        const { finishReason } = await client.create(ask("Write a long story."), {
          extraCreateArgs: subject.bound(3),
        })
        assert.equal(finishReason, "length")
      }),
    )

    it(
      "takes a long conversation",
      withClient(async (client) => {
        const messages: LLMMessage[] = [
          { type: "SystemMessage", content: "Answer in one word." },
          ...ask("Is snow white?"),
          { type: "AssistantMessage", content: "Yes.", source: "assistant" },
          ...ask("Is coal white?"),
        ]
        const result = await client.create(messages, { extraCreateArgs: subject.bound(200) })
        assert.equal(typeof result.content, "string")
      }),
    )

    it(
      "ends a stream when it is aborted",
      withClient(async (client) => {
        const controller = new AbortController()
        const reason = new Error("enough")
        const stream = client.createStream(ask("Write a very long story."), { signal: controller.signal })
        assert.equal(typeof (await stream.next()).value, "string")
        controller.abort(reason)
        // What has arrived may still be read.
        assert.equal(await rejectionOf(readOn(stream)), reason)
      }),
    )

    if (modelInfo.jsonOutput) {
      it(
        "answers in JSON",
        withClient(async (client) => {
          const result = await client.create(
            ask('Answer with the JSON object {"ok": true} and nothing else.'),
            {
              jsonOutput: true,
              extraCreateArgs: subject.bound(200),
            },
          )
          assert.doesNotThrow(() => JSON.parse(textOf(result)) as unknown, textOf(result))
        }),
      )
    }

    if (modelInfo.structuredOutput) {
      it(
        "keeps to a schema",
        withClient(async (client) => {
          const schema = z.object({ city: z.string(), isCapital: z.boolean() })
          const result = await client.create(ask("Tell me about Rome, in JSON."), {
            jsonOutput: schema,
            extraCreateArgs: subject.bound(200),
          })
          assert.ok(schema.safeParse(JSON.parse(textOf(result))).success, textOf(result))
        }),
      )
    }

    if (modelInfo.functionCalling) {
      it(
        "calls a tool, and takes its result",
        withClient(async (client) => {
          const question = ask("Use the tool to add 2 and 3.")
          const options = { tools: [add], extraCreateArgs: subject.bound(500) }
          const wish = await client.create(question, { ...options, toolChoice: "required" })
          assert.ok(typeof wish.content !== "string", `expected a call: ${JSON.stringify(wish)}`)
          const [call] = wish.content
          assert.equal(call?.name, "add")
          assert.equal(typeof JSON.parse(call.arguments), "object")
          const history: LLMMessage[] = [
            ...question,
            { type: "AssistantMessage", content: wish.content, source: "assistant" },
            {
              type: "FunctionExecutionResultMessage",
              content: wish.content.map(({ id, name }) => ({ callId: id, name, content: "5" })),
            },
          ]
          const { usage } = await client.create(history, options)
          assert.ok(usage.promptTokens > 0)
        }),
      )
    }
  })
}

function textOf({ content }: CreateResult): string {
  assert.ok(typeof content === "string", "expected a text")
  return content
}

async function readOn(stream: AsyncGenerator): Promise<void> {
  for (let step = await stream.next(); step.done !== true; step = await stream.next());
}
