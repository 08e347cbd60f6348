import { expect, it } from "vitest"
import type { CreateOptions, CreateResult, LLMMessage, ToolSchema } from "../../models/index.ts"
import { ReplayChatCompletionClient } from "../../models/replay/index.ts"
import { GovernedPlace } from "../governance.test-kit.ts"
import { Redactor } from "../index.ts"

const SECRET = "tok-9f83hf83hf8h3f8h3f"

class Listening extends ReplayChatCompletionClient {
  tools: CreateOptions["tools"]
  override async create(messages: readonly LLMMessage[], options: CreateOptions = {}): Promise<CreateResult> {
    this.tools = options.tools
    return super.create(messages, options)
  }
}

it("takes secrets out of what a model is told of tools, and leaves the others as they are", async () => {
  const redaction = new Redactor({ values: [SECRET], environment: false })
  await using place = await GovernedPlace.make({ redaction })
  const inner = new Listening(["fine"])
  const plain: ToolSchema = { name: "plain", parameters: { type: "object", required: ["password"] } }
  const server = { type: "string", default: SECRET, description: `with ${SECRET}` }
  const told: ToolSchema = {
    name: "told",
    description: `for ${SECRET}`,
    parameters: { type: "object", properties: { password: server } },
    strict: true,
  }
  const client = place.governance.agent("clerk").client(inner)
  await client.create([{ type: "UserMessage", content: "hello", source: "user" }], {
    tools: [plain, { schema: told }],
  })
  expect(inner.tools?.[0]).toBe(plain)
  expect(inner.tools?.[1]).toEqual({
    name: "told",
    description: "for [redacted:secret]",
    parameters: {
      type: "object",
      properties: {
        password: { type: "string", default: "[redacted:secret]", description: "with [redacted:secret]" },
      },
    },
    strict: true,
  })
})
