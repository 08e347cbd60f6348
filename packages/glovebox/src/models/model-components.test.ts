import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { configOf, roundTrip } from "../core/components/round-trip.test-kit.ts"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { ComponentRegistry, silentLogger } from "../core/index.ts"
import { ChatCompletionCache, DiskCacheStore, MemoryCacheStore } from "./cache/index.ts"
import type { LLMMessage } from "./index.ts"
import { ReplayChatCompletionClient } from "./replay/index.ts"

const registry = new ComponentRegistry([
  ReplayChatCompletionClient.definition,
  ChatCompletionCache.definition,
  MemoryCacheStore.definition,
  DiskCacheStore.definition,
])
const ask: LLMMessage[] = [{ type: "UserMessage", content: "x", source: "user" }]

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-cache-"))
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe("a replay client in data", () => {
  it("says the same again", async () => {
    const client = new ReplayChatCompletionClient([
      "one",
      [{ id: "1", name: "f", arguments: "{}" }],
      { content: "cut", finishReason: "length", thought: "hm", thoughtSignature: "s" },
      {
        content: "whole",
        finishReason: "stop",
        cached: false,
        usage: { promptTokens: 1, completionTokens: 2 },
        logprobs: [{ token: "w", logprob: -1, bytes: [119], topLogprobs: [{ token: "w", logprob: -1 }] }],
      },
    ])
    const made = roundTrip(registry, client)
    for (let answer = 0; answer < 4; answer += 1) {
      expect(await made.create(ask)).toEqual(await client.create(ask))
    }
  })

  it("keeps what the model can do, and whether it begins again", async () => {
    const modelInfo = {
      vision: false,
      functionCalling: true,
      jsonOutput: false,
      structuredOutput: false,
      family: "r1",
      contextTokens: 99,
    }
    const client = new ReplayChatCompletionClient(["a", "b"], { modelInfo, repeat: true, keepCalls: false })
    const made = roundTrip(registry, client)
    expect(made.modelInfo).toMatchObject(modelInfo)
    const said: unknown[] = []
    for (let call = 0; call < 5; call += 1) said.push((await made.create(ask)).content)
    expect(said).toEqual(["a", "b", "a", "b", "a"])
    expect(made.createCalls).toEqual([])
  })

  it("is read as AutoGen wrote it", async () => {
    const client = registry.load(
      {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        component_type: "replay_chat_completion_client",
        config: {
          chat_completions: [
            {
              finish_reason: "stop",
              content: "x",
              usage: { prompt_tokens: 1, completion_tokens: 2 },
              cached: false,
              logprobs: null,
              thought: null,
            },
          ],
          model_info: {
            vision: false,
            function_calling: false,
            json_output: false,
            family: "unknown",
            structured_output: false,
          },
        },
      },
      ReplayChatCompletionClient,
    )
    expect(await client.create(ask)).toEqual({
      finishReason: "stop",
      content: "x",
      usage: { promptTokens: 1, completionTokens: 2 },
      cached: false,
    })
  })

  it("is refused with answers that are no data, by their number", () => {
    expect(failureOf(() => new ReplayChatCompletionClient(["a", () => "b"]).toComponent())).toMatch(
      /^COMPONENT_INVALID: Answer 2 .* a function/,
    )
    expect(failureOf(() => new ReplayChatCompletionClient([new Error("x")]).toComponent())).toMatch(
      /^COMPONENT_INVALID: Answer 1 .* an error/,
    )
  })

  it("fails with nothing to repeat", async () => {
    await expect(new ReplayChatCompletionClient([], { repeat: true }).create(ask)).rejects.toMatchObject({
      code: "REPLAY_EXHAUSTED",
    })
  })
})

describe("a cache in data", () => {
  it("has the client behind it, and the kind of its store without the answers", async () => {
    const cache = new ChatCompletionCache(new ReplayChatCompletionClient(["one", "two"]), {
      store: new MemoryCacheStore({ maxEntries: 7 }),
    })
    await cache.create(ask)
    const made = roundTrip(registry, cache)
    expect(configOf(made)).toMatchObject({
      client: { config: { chat_completions: ["one", "two"] } },
      store: { config: { max_entries: 7 } },
    })
    expect((await made.create(ask)).cached).toBe(false)
  })

  it("has the folder of a store on the disk, and a store of its own when AutoGen names none", () => {
    const store = new DiskCacheStore(folder)
    const cache = roundTrip(registry, new ChatCompletionCache(new ReplayChatCompletionClient([]), { store }))
    expect(configOf(cache)).toMatchObject({ store: { config: { directory: folder } } })
    const client = new ReplayChatCompletionClient([]).toComponent()
    const provider = "autogen_ext.models.cache.ChatCompletionCache"
    expect(
      registry.load({ provider, component_type: "chat_completion_cache", config: { client } }),
    ).toBeInstanceOf(ChatCompletionCache)
  })

  it("is refused with a store or a logger of the program's own", () => {
    const client = new ReplayChatCompletionClient([])
    const store = { get: async () => undefined, set: async () => {} }
    expect(failureOf(() => new ChatCompletionCache(client, { store }).toComponent())).toMatch(
      /^COMPONENT_INVALID: store /,
    )
    const logger = { ...silentLogger }
    expect(failureOf(() => new ChatCompletionCache(client, { logger }).toComponent())).toMatch(
      /^COMPONENT_INVALID: .*logger/,
    )
  })

  it("is refused over what is no client", () => {
    const config = { client: new MemoryCacheStore().toComponent() }
    expect(
      failureOf(() => registry.load({ provider: "glovebox.models.ChatCompletionCache", config })),
    ).toMatch(/is no model client/)
  })
})
