import assert from "node:assert/strict"
import type {
  ChatCompletionClient,
  CreateOptions,
  CreateResult,
  LLMMessage,
  ToolSchema,
} from "../../models/index.ts"
import type { ModelClientSubject, ModelStage, ScriptedAnswer } from "../model-client-subject.ts"
import type { TestRunner } from "../test-runner.ts"

/** What each part of the suite is given. */
export interface ModelSuite {
  readonly subject: ModelClientSubject
  /** Defines a test with a stage of its own. */
  readonly it: (name: string, body: (stage: ModelStage) => Promise<void>) => void
}

/** Defines a part of the suite. */
export function defineModelPart(
  runner: TestRunner,
  subject: ModelClientSubject,
  name: string,
  define: (suite: ModelSuite) => void,
): void {
  runner.describe(name, () => {
    define({
      subject,
      it: (title, body) => {
        runner.it(title, async () => {
          await using stage = await subject.open()
          await body(stage)
        })
      },
    })
  })
}

/** One message of a user. */
export function ask(content: string): LLMMessage[] {
  return [{ type: "UserMessage", content, source: "user" }]
}

/** An answer of this text, in one piece. */
export function saying(...pieces: string[]): ScriptedAnswer {
  return { type: "answer", pieces }
}

export const weather: ToolSchema = {
  name: "weather",
  description: "Tells the weather of a place.",
  parameters: {
    type: "object",
    properties: { place: { $ref: "#/$defs/Place" } },
    required: ["place"],
    additionalProperties: false,
    $defs: { Place: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
  },
}

export interface Streamed {
  readonly pieces: string[]
  readonly result: CreateResult
}

/** Reads a stream to its end, and checks that its last item is the result it returns. */
export async function drain(
  client: ChatCompletionClient,
  messages: readonly LLMMessage[],
  options?: CreateOptions,
): Promise<Streamed> {
  const stream = client.createStream(messages, options)
  const items: (string | CreateResult)[] = []
  for (;;) {
    const { done, value } = await stream.next()
    if (done === true) {
      assert.equal(items.at(-1), value, "the last item is what the generator returns")
      const pieces = items.slice(0, -1).filter((item) => typeof item === "string")
      assert.equal(pieces.length, items.length - 1, "all other items are text")
      return { pieces, result: value }
    }
    items.push(value)
  }
}
