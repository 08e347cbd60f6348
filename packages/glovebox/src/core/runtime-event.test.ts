import { describe, expect, it } from "vitest"
import { z } from "zod"
import {
  ClosureAgent,
  type Logger,
  type RuntimeEvent,
  SingleThreadedAgentRuntime,
  agentId,
  defineMessage,
  silentLogger,
  topicId,
  typeSubscription,
} from "./index.ts"
import { gate } from "./gate.test-kit.ts"

const Note = defineMessage("Note", z.object({ text: z.string() }))

const ALL = [
  "message-sent",
  "message-published",
  "message-delivered",
  "message-handled",
  "message-dropped",
  "message-cancelled",
  "message-unhandled",
  "message-undeliverable",
  "handler-failed",
  "agent-created",
  "agent-creation-failed",
  "runtime-started",
  "runtime-stopped",
] as const satisfies readonly RuntimeEvent["type"][]

async function observed(logger: Logger = silentLogger): Promise<{
  runtime: SingleThreadedAgentRuntime
  events: RuntimeEvent[]
}> {
  const runtime = new SingleThreadedAgentRuntime({ logger })
  const events: RuntimeEvent[] = []
  for (const type of ALL) runtime.on(type, (event) => events.push(event))
  await runtime.register(
    "scribe",
    () =>
      new ClosureAgent([Note], ({ text }) => {
        if (text === "bad") throw new Error("bad note")
        return Note({ text: "noted" })
      }),
    { subscriptions: [typeSubscription("notes")] },
  )
  runtime.start()
  return { runtime, events }
}

const types = (events: readonly RuntimeEvent[]): string[] => events.map(({ type }) => type)

describe("runtime events", () => {
  it("tell the story of a send", async () => {
    const { runtime, events } = await observed()
    await runtime.send(Note({ text: "x" }), agentId("scribe"), { sender: agentId("me"), messageId: "m1" })
    await runtime.close()
    expect(types(events)).toEqual([
      "runtime-started",
      "message-sent",
      "agent-created",
      "message-delivered",
      "message-handled",
      "runtime-stopped",
    ])
    expect(events[4]).toMatchObject({
      messageId: "m1",
      sender: agentId("me"),
      recipient: agentId("scribe"),
      message: { text: "x" },
      reply: { text: "noted" },
      durationMs: expect.any(Number) as number,
    })
  })

  it("tell of failures of publications", async () => {
    const { runtime, events } = await observed()
    await runtime.publish(Note({ text: "bad" }), topicId("notes"))
    await runtime.stopWhenIdle()
    await runtime.close()
    const failed = events.find(({ type }) => type === "handler-failed")
    expect(failed).toMatchObject({ recipient: agentId("scribe"), topicId: topicId("notes") })
    expect(events.find(({ type }) => type === "message-published")).toMatchObject({ recipients: 1 })
  })

  it("tell whether a cancelled message had been begun", async () => {
    const runtime = new SingleThreadedAgentRuntime()
    await using _ = runtime
    const started: boolean[] = []
    const begun = gate()
    const ended = gate()
    runtime.on("message-cancelled", (event) => started.push(event.started))
    await runtime.register(
      "slow",
      () =>
        new ClosureAgent([Note], async () => {
          begun.open()
          await ended.promise
        }),
    )
    runtime.start()
    const controller = new AbortController()
    const send = (): Promise<unknown> =>
      runtime.send(Note({ text: "" }), agentId("slow"), { signal: controller.signal }).catch(() => "gave up")
    const sends = [send(), send()]
    await begun.promise
    controller.abort()
    expect(await Promise.all(sends)).toEqual(["gave up", "gave up"])
    expect(started).toEqual([true, false])
    ended.open()
    await runtime.whenIdle()
  })

  it("reach other listeners though one throws, and stop when it is disposed", async () => {
    const errors: string[] = []
    const logger = { ...silentLogger, error: (message: string) => void errors.push(message) }
    const { runtime, events } = await observed(logger)
    await using _ = runtime
    const seen: string[] = []
    runtime.on("message-sent", () => {
      throw new Error("listener")
    })
    const listener = runtime.on("message-sent", () => void seen.push("sent"))
    await runtime.send(Note({ text: "1" }), agentId("scribe"))
    listener[Symbol.dispose]()
    listener[Symbol.dispose]()
    await runtime.send(Note({ text: "2" }), agentId("scribe"))
    expect(seen).toEqual(["sent"])
    expect(errors).toEqual(["A listener of a runtime event failed", "A listener of a runtime event failed"])
    expect(types(events).filter((type) => type === "message-handled")).toHaveLength(2)
  })
})

describe("the logger", () => {
  async function failing(
    options: ConstructorParameters<typeof SingleThreadedAgentRuntime>[0],
  ): Promise<void> {
    await using runtime = new SingleThreadedAgentRuntime(options)
    await runtime.register("bad", () => new ClosureAgent([Note], () => Promise.reject(new Error("kaput"))), {
      subscriptions: [typeSubscription("notes")],
    })
    runtime.start()
    await runtime.publish(Note({ text: "private words" }), topicId("notes"))
    await runtime.stopWhenIdle()
  }

  it("hears of an error that reaches nobody else, without the message's words", async () => {
    const lines: unknown[] = []
    await failing({ logger: { ...silentLogger, error: (...line: unknown[]) => void lines.push(line) } })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject([
      "A handler of bad/default failed",
      { agent: "bad/default", messageType: "Note" },
    ])
    expect(JSON.stringify(lines)).not.toContain("private words")
  })

  it("is a process warning by default", async () => {
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve))
    await failing({})
    expect(await warned).toMatchObject({
      name: "GloveboxWarning",
      message: "A handler of bad/default failed: kaput",
    })
  })

  it("may throw without harm", async () => {
    const broken = (): never => {
      throw new Error("disk full")
    }
    const logger = { debug: broken, info: broken, warn: broken, error: broken }
    await expect(failing({ logger })).resolves.toBeUndefined()
  })
})
