import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { silentLogger } from "../../core/index.ts"
import type { ChatCompletionClient, CreateOptions, LLMMessage } from "../index.ts"
import { OllamaChatCompletionClient } from "../ollama/index.ts"
import { ReplayChatCompletionClient } from "../replay/index.ts"
import { type CacheStore, ChatCompletionCache, DiskCacheStore, MemoryCacheStore } from "./index.ts"

const ask = (content: string): LLMMessage[] => [{ type: "UserMessage", content, source: "user" }]
const tool = { name: "f", parameters: { type: "object" } }

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-cache-"))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

/** A model that numbers its answers, as one model of this name. */
function numbered(model = "m"): ChatCompletionClient {
  let count = 0
  const client = new ReplayChatCompletionClient(
    Array.from({ length: 20 }, () => () => `answer ${(count += 1)}`),
  )
  return Object.defineProperty(client, "identity", { value: { provider: "replay", model } })
}

const stores: readonly (readonly [string, () => CacheStore])[] = [
  ["memory", () => new MemoryCacheStore()],
  ["disk", () => new DiskCacheStore(join(folder, `store-${Math.random()}`))],
]

describe.each(stores)("ChatCompletionCache with a store on %s", (_name, makeStore) => {
  it("asks once, and says that the answer was known", async () => {
    const client = numbered()
    const cache = new ChatCompletionCache(client, { store: makeStore() })
    const first = await cache.create(ask("x"))
    expect(first).toMatchObject({ content: "answer 1", cached: false })
    expect(await cache.create(ask("x"))).toEqual({ ...first, cached: true })
    expect(cache.actualUsage()).toEqual(first.usage)
    expect(cache.totalUsage()).toEqual({
      promptTokens: first.usage.promptTokens * 2,
      completionTokens: first.usage.completionTokens * 2,
    })
  })

  it("does not ask again because of where words come from, which no model is told", async () => {
    const cache = new ChatCompletionCache(numbered(), { store: makeStore() })
    await cache.create(ask("x"))
    const printed = ask("x").map((message) => ({ ...message, untrusted: "code-execution" }))
    expect(await cache.create(printed)).toMatchObject({ cached: true })
  })

  it("knows an answer of a stream for a call, and the other way round", async () => {
    const cache = new ChatCompletionCache(numbered(), { store: makeStore() })
    const items = async (text: string): Promise<unknown[]> => {
      const list: unknown[] = []
      for await (const item of cache.createStream(ask(text))) list.push(item)
      return list
    }
    const streamed = await items("x")
    expect(await cache.create(ask("x"))).toEqual({ ...(streamed.at(-1) as object), cached: true })
    const whole = await cache.create(ask("y"))
    expect(await items("y")).toEqual([whole.content, { ...whole, cached: true }])
  })

  it("keeps nothing of a stream that was left, and closes it", async () => {
    const cache = new ChatCompletionCache(numbered(), { store: makeStore() })
    const stream = cache.createStream(ask("x"))
    expect((await stream.next()).value).toBe("answer ")
    await stream.return(undefined as never)
    expect((await cache.create(ask("x"))).content).toBe("answer 2")
  })

  it("tells apart whatever decides on the answer", async () => {
    const store = makeStore()
    const cache = new ChatCompletionCache(numbered(), { store })
    const schema = z.object({ a: z.string() })
    const variants: CreateOptions[] = [
      {},
      { tools: [tool] },
      { tools: [{ ...tool, description: "d" }] },
      { tools: [tool], toolChoice: "required" },
      { tools: [tool], toolChoice: { name: "f" } },
      { jsonOutput: true },
      { jsonOutput: schema },
      { extraCreateArgs: { temperature: 1 } },
    ]
    for (const options of variants) expect((await cache.create(ask("x"), options)).cached).toBe(false)
    for (const options of variants) expect((await cache.create(ask("x"), options)).cached).toBe(true)
    // The same, said otherwise.
    const same = await cache.create(ask("x"), {
      jsonOutput: false,
      toolChoice: "auto",
      tools: [],
      extraCreateArgs: {},
    })
    expect(same.cached).toBe(true)
    const other = new ChatCompletionCache(numbered("other"), { store })
    expect((await other.create(ask("x"))).cached).toBe(false)
    const alike = new ChatCompletionCache(numbered(), { store })
    expect(await alike.create(ask("x"))).toMatchObject({ cached: true, content: "answer 1" })
  })

  it("may be used by many calls at once", async () => {
    const cache = new ChatCompletionCache(numbered(), { store: makeStore() })
    const results = await Promise.all(Array.from({ length: 10 }, async () => cache.create(ask("x"))))
    const texts = results.map(({ content }) => content)
    expect(texts).toContain((await cache.create(ask("x"))).content)
  })
})

describe("ChatCompletionCache", () => {
  it.each(["not JSON", "{}", '{"content":"x"}', ""])("asks again when the store has %j", async (kept) => {
    const store = { get: async () => kept, set: async () => {} }
    const cache = new ChatCompletionCache(numbered(), { store })
    expect(await cache.create(ask("x"))).toMatchObject({ content: "answer 1", cached: false })
  })

  it("goes on without a store that fails, and reports it", async () => {
    const broken = async (): Promise<never> => Promise.reject(new Error("disk full"))
    const reports: string[] = []
    const logger = { ...silentLogger, warn: (message: string) => void reports.push(message) }
    const cache = new ChatCompletionCache(numbered(), { store: { get: broken, set: broken }, logger })
    expect((await cache.create(ask("x"))).content).toBe("answer 1")
    expect(reports).toEqual(["The model cache cannot be read", "The model cache cannot be written"])
  })

  it("does not wait for a store when it is aborted", async () => {
    const controller = new AbortController()
    const store = { get: async () => new Promise<never>(() => {}), set: async () => {} }
    const result = new ChatCompletionCache(numbered(), { store }).create(ask("x"), {
      signal: controller.signal,
    })
    controller.abort(new Error("enough"))
    await expect(result).rejects.toThrow("enough")
  })
})

describe("MemoryCacheStore", () => {
  it("forgets what was not used for longest", async () => {
    const store = new MemoryCacheStore({ maxEntries: 2 })
    await store.set("a", "1")
    await store.set("b", "2")
    await store.get("a")
    await store.set("c", "3")
    expect([await store.get("a"), await store.get("b"), await store.get("c")]).toEqual(["1", undefined, "3"])
  })
})

describe("DiskCacheStore", () => {
  const key = "ab".repeat(32)

  it("keeps whole files that nobody else may read, and no drafts", async () => {
    const root = join(folder, "files")
    const store = new DiskCacheStore(root)
    const values = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000))
    await Promise.all(values.map(async (value) => store.set(key, value)))
    expect(values).toContain(await store.get(key))
    expect(await readdir(join(root, "ab"))).toEqual([`${key}.json`])
    expect((await stat(join(root, "ab", `${key}.json`))).mode & 0o777).toBe(0o600)
  })

  it("leaves no draft where it cannot write", async () => {
    const root = join(folder, "blocked")
    await writeFile(root, "a file, not a folder")
    await expect(new DiskCacheStore(root).set(key, "x")).rejects.toThrow(/EEXIST|ENOTDIR/)
    expect(await readFile(root, "utf8")).toBe("a file, not a folder")
  })

  it("takes digests only, because a key is part of a path", async () => {
    const store = new DiskCacheStore(folder)
    for (const bad of ["../../etc/passwd", "", "AB".repeat(32), `${key}/x`]) {
      await expectFailure(store.get(bad), "OPTION_INVALID")
      await expectFailure(store.set(bad, "x"), "OPTION_INVALID")
    }
  })
})

describe("ChatCompletionCache", () => {
  it("keeps an answer for what was asked, though the caller's list grows meanwhile", async () => {
    const seen: number[] = []
    const client = new ReplayChatCompletionClient([
      (messages) => {
        seen.push(messages.length)
        return "one"
      },
    ])
    const cache = new ChatCompletionCache(client)
    const list = ask("x")
    const answer = cache.create(list)
    list.push(...ask("and more"))
    await answer
    expect(seen).toEqual([1])
    expect((await cache.create(ask("x"))).cached).toBe(true)
  })

  it("gives no answer when it is closed, also one that it knows", async () => {
    const cache = new ChatCompletionCache(numbered())
    await cache.create(ask("x"))
    await cache.close()
    await expectFailure(cache.create(ask("x")), "MODEL_CLIENT_CLOSED")
    await expectFailure(cache.createStream(ask("x")).next(), "MODEL_CLIENT_CLOSED")
  })

  it("does not wait for a store that hangs when it is aborted", async () => {
    const reason = new Error("enough")
    const controller = new AbortController()
    const store: CacheStore = {
      get: async () => undefined,
      set: async () => {
        controller.abort(reason)
        return new Promise(() => {})
      },
    }
    const cache = new ChatCompletionCache(numbered(), { store })
    await expect(cache.create(ask("x"), { signal: controller.signal })).rejects.toBe(reason)
  })

  it("tells models of another family apart", () => {
    const make = (family: string): ChatCompletionClient =>
      new OllamaChatCompletionClient({
        model: "m",
        modelInfo: { vision: true, functionCalling: true, jsonOutput: true, structuredOutput: true, family },
      })
    expect(make("r1").identity).not.toEqual(make("llama").identity)
  })

  it("is not harmed by writers at the same time, and asks again for what was cut", async () => {
    const place = join(folder, "shared")
    const long = "x".repeat(100_000)
    const caches = Array.from({ length: 8 }, () => {
      const client = Object.defineProperty(new ReplayChatCompletionClient([long, long]), "identity", {
        value: { provider: "replay", model: "shared" },
      })
      return new ChatCompletionCache(client, { store: new DiskCacheStore(place) })
    })
    await Promise.all(caches.map(async (cache) => cache.create(ask("x"))))
    const known = await Promise.all(caches.map(async (cache) => cache.create(ask("x"))))
    expect(known.every(({ cached, content }) => cached && content === long)).toBe(true)
    const files = (await readdir(place, { recursive: true })).filter((file) => file.endsWith(".json"))
    expect(files.length).toBe(1)
    const file = join(place, files[0] ?? "")
    const text = await readFile(file, "utf8")
    await writeFile(file, text.slice(0, text.length / 2))
    expect(await caches[0]?.create(ask("x"))).toMatchObject({ cached: false })
    expect(await caches[1]?.create(ask("x"))).toMatchObject({ cached: true })
  })
})
