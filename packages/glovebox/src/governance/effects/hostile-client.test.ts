import { describe, expect, it } from "vitest"
import { gate } from "../../core/gate.test-kit.ts"
import type { CreateResult, LLMMessage } from "../../models/index.ts"
import { ReplayChatCompletionClient } from "../../models/replay/index.ts"
import { Governance } from "../index.ts"
import { MemorySink } from "./telling-executor.test-kit.ts"

const MESSAGES: readonly LLMMessage[] = [{ type: "UserMessage", content: "hello", source: "user" }]

/** A client that gives whatever a test wants it to. */
class Odd extends ReplayChatCompletionClient {
  readonly #answer: () => Promise<unknown>

  constructor(answer: () => Promise<unknown>) {
    super([])
    this.#answer = answer
  }

  override async create(): Promise<CreateResult> {
    return (await this.#answer()) as CreateResult
  }

  override async *createStream(): AsyncGenerator<string | CreateResult, CreateResult> {
    yield "a "
    return (await this.#answer()) as CreateResult
  }
}

describe("a model's client of somebody's own, behind governance", () => {
  it.each([
    ["nothing", undefined],
    ["no usage", { content: "fine", finishReason: "stop", cached: false }],
  ])("has failed where it gives %s", async (_, answer) => {
    const audit = new MemorySink()
    const client = new Governance({ audit }).agent("writer").client(new Odd(async () => answer))
    await expect(client.create(MESSAGES)).rejects.toMatchObject({ code: "MODEL_RESPONSE_INVALID" })
    const stream = client.createStream(MESSAGES)
    await stream.next()
    await expect(stream.next()).rejects.toMatchObject({ code: "MODEL_RESPONSE_INVALID" })
    const call = ["model-call intent", "model-call failed"]
    expect(audit.told).toEqual([...call, ...call])
  })

  it.each(["create", "createStream"] as const)(
    "has failed where %s does not look at its signal, and its caller went",
    async (way) => {
      const audit = new MemorySink()
      const asked = gate()
      const deaf = new Odd(() => {
        asked.open()
        return new Promise(() => {})
      })
      const client = new Governance({ audit }).agent("writer").client(deaf)
      const stop = new AbortController()
      const { signal } = stop
      const answer = async (): Promise<void> => {
        if (way === "create") await client.create(MESSAGES, { signal })
        else for await (const _ of client.createStream(MESSAGES, { signal }));
      }
      const ended = Promise.allSettled([answer()])
      await asked.promise
      stop.abort(new Error("enough"))
      expect(await ended).toMatchObject([{ reason: { message: "enough" } }])
      expect(audit.told).toEqual(["model-call intent", "model-call failed"])
    },
  )
})
