import { describe, expect, it } from "vitest"
import { configOf, roundTrip } from "../core/components/round-trip.test-kit.ts"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { ComponentRegistry } from "../core/index.ts"
import type { LLMMessage } from "../models/index.ts"
import { ReplayChatCompletionClient } from "../models/replay/index.ts"
import {
  BufferedChatCompletionContext,
  HeadAndTailChatCompletionContext,
  ListMemory,
  TokenLimitedChatCompletionContext,
  UnboundedChatCompletionContext,
  memoryComponents,
} from "./index.ts"

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const initialMessages: readonly LLMMessage[] = [
  { type: "SystemMessage", content: "be brief" },
  {
    type: "UserMessage",
    content: ["look", { type: "Image", mediaType: "image/png", data: PIXEL }],
    source: "user",
    untrusted: "code-execution",
  },
  {
    type: "AssistantMessage",
    content: [{ id: "1", name: "f", arguments: "{}" }],
    thought: "hm",
    thoughtSignature: "signed",
    source: "assistant",
  },
  {
    type: "FunctionExecutionResultMessage",
    content: [{ callId: "1", name: "f", content: "done", isError: false }],
  },
]

const modelClient = new ReplayChatCompletionClient(["hi"])
const registry = new ComponentRegistry([...memoryComponents, ReplayChatCompletionClient.definition])

describe("a model context in data", () => {
  it.each([
    new UnboundedChatCompletionContext(),
    new UnboundedChatCompletionContext({ initialMessages }),
    new BufferedChatCompletionContext({ bufferSize: 3, initialMessages }),
    new HeadAndTailChatCompletionContext({ headSize: 1, tailSize: 2, initialMessages }),
    new TokenLimitedChatCompletionContext({ modelClient }),
    new TokenLimitedChatCompletionContext({
      modelClient,
      tokenLimit: 500,
      tools: [{ name: "f", description: "does f", parameters: { type: "object" } }],
      initialMessages,
    }),
  ])("is made again with what it began with ($constructor.name, %#)", async (context) => {
    const made = roundTrip(registry, context)
    expect(made).toBeInstanceOf(context.constructor)
    expect(await made.getMessages()).toEqual(await context.getMessages())
  })

  it("has nothing of what was said since: that is its state", async () => {
    const context = new BufferedChatCompletionContext({ bufferSize: 3 })
    await context.addMessage({ type: "UserMessage", content: "secret", source: "user" })
    expect(configOf(context)).toEqual({ buffer_size: 3 })
  })

  it("is read as AutoGen wrote it", async () => {
    const context = registry.load(
      {
        provider: "autogen_core.model_context.BufferedChatCompletionContext",
        component_type: "chat_completion_context",
        version: 1,
        component_version: 1,
        config: {
          buffer_size: 9,
          initial_messages: [
            { content: "s", type: "SystemMessage" },
            { content: ["look", { data: PIXEL }], source: "x", type: "UserMessage" },
            { content: [{ id: "1", name: "f", arguments: "{}" }], source: "y", type: "AssistantMessage" },
            {
              content: [{ content: "c", name: "f", call_id: "1", is_error: false }],
              type: "FunctionExecutionResultMessage",
            },
          ],
        },
      },
      BufferedChatCompletionContext,
    )
    expect(await context.getMessages()).toEqual([
      { type: "SystemMessage", content: "s" },
      {
        type: "UserMessage",
        content: ["look", { type: "Image", mediaType: "image/png", data: PIXEL }],
        source: "x",
      },
      { type: "AssistantMessage", content: [{ id: "1", name: "f", arguments: "{}" }], source: "y" },
      {
        type: "FunctionExecutionResultMessage",
        content: [{ callId: "1", name: "f", content: "c", isError: false }],
      },
    ])
  })

  it("names what is no model client in it, and what has no way to be written", () => {
    const memory = new ListMemory().toComponent()
    const config = { model_client: memory, token_limit: 5 }
    expect(
      failureOf(() =>
        registry.load({ provider: "glovebox.memory.TokenLimitedChatCompletionContext", config }),
      ),
    ).toMatch(/^COMPONENT_INVALID: .*ListMemory" is no model client/)
    const bare = Object.defineProperty(new ReplayChatCompletionClient([]), "toComponent", {
      value: undefined,
    })
    const context = new TokenLimitedChatCompletionContext({ modelClient: bare })
    expect(failureOf(() => context.toComponent())).toMatch(/^COMPONENT_INVALID: modelClient /)
  })
})

describe("a list memory in data", () => {
  it("has all that it remembers", async () => {
    const memory = new ListMemory({
      name: "facts",
      contents: [
        { content: "the sky is blue" },
        { content: { a: [1, null] }, mimeType: "application/json", metadata: { from: "us" } },
      ],
    })
    await memory.add({ content: "# water", mimeType: "text/markdown" })
    const made = roundTrip(registry, memory)
    expect(made.name).toBe("facts")
    expect(made.contents).toEqual(memory.contents)
  })

  it("is read as AutoGen wrote it, and refused with what cannot be remembered here", () => {
    const provider = "autogen_core.memory.ListMemory"
    const contents = [{ content: "hi", mime_type: "text/plain", metadata: { a: 1 } }]
    const memory = registry.load({ provider, config: { name: "m", memory_contents: contents } }, ListMemory)
    expect(memory.contents).toEqual([{ content: "hi", mimeType: "text/plain", metadata: { a: 1 } }])
    const image = [{ content: { data: PIXEL }, mime_type: "image/*" }]
    expect(failureOf(() => registry.load({ provider, config: { memory_contents: image } }))).toMatch(
      /^COMPONENT_INVALID: .*mime_type/,
    )
  })
})

describe("memoryComponents", () => {
  it("tell what their configurations look like", () => {
    for (const { provider } of memoryComponents) {
      expect(registry.configSchema(provider)).toMatchObject({ type: "object" })
    }
  })
})
