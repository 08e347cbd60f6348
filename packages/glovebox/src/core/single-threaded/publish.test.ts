import { describe, expect, it } from "vitest"
import { z } from "zod"
import {
  ClosureAgent,
  RoutedAgent,
  type RuntimeEvent,
  SingleThreadedAgentRuntime,
  type SingleThreadedAgentRuntimeOptions,
  agentId,
  defaultSubscription,
  defaultTopicId,
  defineMessage,
  silentLogger,
  topicId,
  typePrefixSubscription,
  typeSubscription,
} from "../index.ts"
import { expectFailure } from "../expect-failure.test-kit.ts"
import { gate } from "../gate.test-kit.ts"

const News = defineMessage("News", z.object({ text: z.string() }))
const Ask = defineMessage("Ask", z.object({}))

function listening(
  log: string[],
  options: SingleThreadedAgentRuntimeOptions = {},
): {
  runtime: SingleThreadedAgentRuntime
  listen: (type: string, ...topics: Parameters<typeof typeSubscription>[0][]) => Promise<void>
} {
  const runtime = new SingleThreadedAgentRuntime({ logger: silentLogger, ...options })
  const listen = (type: string, ...topics: string[]): Promise<void> =>
    runtime.register(
      type,
      () =>
        new ClosureAgent(
          [News],
          ({ text }, _context, { id }) => void log.push(`${id.type}/${id.key}:${text}`),
        ),
      { subscriptions: topics.map((topic) => typeSubscription(topic)) },
    )
  return { runtime, listen }
}

describe("publish", () => {
  it("reaches every subscriber under the topic's source, and nobody else", async () => {
    const log: string[] = []
    const { runtime, listen } = listening(log)
    await using _ = runtime
    await listen("a", "news")
    await listen("b", "news")
    await listen("c", "weather")
    runtime.start()
    await runtime.publish(News({ text: "x" }), topicId("news", "s1"))
    await runtime.publish(News({ text: "y" }), topicId("news", "s2"))
    await runtime.stopWhenIdle()
    expect(log).toEqual(["a/s1:x", "b/s1:x", "a/s2:y", "b/s2:y"])
  })

  it("reaches an agent once, though several of its subscriptions match", async () => {
    const log: string[] = []
    const { runtime, listen } = listening(log)
    await using _ = runtime
    await listen("a", "news")
    await runtime.addSubscription(typePrefixSubscription("ne", "a"))
    await runtime.addSubscription(typePrefixSubscription("news", "a"))
    runtime.start()
    await runtime.publish(News({ text: "once" }), topicId("news"))
    await runtime.publish(News({ text: "prefix" }), topicId("newt"))
    await runtime.stopWhenIdle()
    expect(log).toEqual(["a/default:once", "a/default:prefix"])
  })

  it("never reaches its own sender, but does reach the sender's type under another key", async () => {
    const log: string[] = []
    const { runtime, listen } = listening(log)
    await using _ = runtime
    await listen("a", "news")
    runtime.start()
    const sender = agentId("a", "me")
    await runtime.publish(News({ text: "1" }), topicId("news", "me"), { sender })
    await runtime.publish(News({ text: "2" }), topicId("news", "you"), { sender })
    await runtime.stopWhenIdle()
    expect(log).toEqual(["a/you:2"])
  })

  it("is fine when nobody listens, and when the sender is of no registered type", async () => {
    const log: string[] = []
    const { runtime, listen } = listening(log)
    await using _ = runtime
    await listen("a", "news")
    runtime.start()
    await runtime.publish(News({ text: "void" }), topicId("silence"))
    await runtime.publish(News({ text: "x" }), topicId("news"), { sender: agentId("stranger") })
    await runtime.stopWhenIdle()
    expect(log).toEqual(["a/default:x"])
  })

  it("lets a failing recipient fail alone, and idle wait for the others", async () => {
    const runtime = new SingleThreadedAgentRuntime({ logger: silentLogger })
    await using _ = runtime
    const opened = gate()
    let slowDone = false
    const failed: unknown[] = []
    runtime.on("handler-failed", ({ error }) => failed.push(error))
    const subscriptions = [typeSubscription("news")]
    const boom = new Error("boom")
    await runtime.register("bad", () => new ClosureAgent([News], () => Promise.reject(boom)), {
      subscriptions,
    })
    await runtime.register("unbuildable", () => Promise.reject(new Error("no")), {
      subscriptions: [typeSubscription("news")],
    })
    await runtime.register(
      "slow",
      () =>
        new ClosureAgent([News], async () => {
          await opened.promise
          slowDone = true
        }),
      { subscriptions: [typeSubscription("news")] },
    )
    runtime.start()
    await runtime.publish(News({ text: "" }), topicId("news"))
    let idle = false
    const whenIdle = runtime.whenIdle().then(() => (idle = true))
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    expect(failed).toEqual([boom])
    expect(idle).toBe(false)
    opened.open()
    await whenIdle
    expect(slowDone).toBe(true)
  })

  it("tells of agents that cannot be reached", async () => {
    const runtime = new SingleThreadedAgentRuntime({ logger: silentLogger })
    await using _ = runtime
    const events: Extract<RuntimeEvent, { type: "message-undeliverable" }>[] = []
    runtime.on("message-undeliverable", (event) => events.push(event))
    await runtime.registerInstance(agentId("one", "a"), new ClosureAgent([News], () => {}), {
      subscriptions: [typeSubscription("news")],
    })
    runtime.start()
    await runtime.publish(News({ text: "" }), topicId("news", "elsewhere"))
    await runtime.whenIdle()
    expect(events.map(({ recipient, error }) => [recipient, error])).toEqual([
      [agentId("one", "elsewhere"), expect.objectContaining({ code: "AGENT_UNKNOWN" })],
    ])
  })

  it("does not fail for a recipient that does not handle the type, but tells", async () => {
    const log: string[] = []
    const { runtime, listen } = listening(log, { ignoreUnhandledExceptions: false })
    await using _ = runtime
    const unhandled: unknown[] = []
    runtime.on("message-unhandled", ({ recipient }) => unhandled.push(recipient))
    await listen("a", "news")
    runtime.start()
    await runtime.publish(Ask({}), topicId("news"))
    await runtime.publish(News({ text: "x" }), topicId("news"))
    await runtime.stopWhenIdle()
    expect(unhandled).toEqual([agentId("a")])
    expect(log).toEqual(["a/default:x"])
  })

  it("counts as a failure when a handler's own request is not handled", async () => {
    const runtime = new SingleThreadedAgentRuntime({ ignoreUnhandledExceptions: false, logger: silentLogger })
    await runtime.register("deaf", () => new ClosureAgent([], () => {}))
    await runtime.register(
      "asker",
      () =>
        new ClosureAgent(
          [News],
          async (_message, _context, agent) => void (await agent.send(Ask({}), agentId("deaf"))),
        ),
      { subscriptions: [typeSubscription("news")] },
    )
    runtime.start()
    await runtime.publish(News({ text: "" }), topicId("news"))
    await expectFailure(runtime.stopWhenIdle(), "MESSAGE_UNHANDLED")
    await runtime.close()
  })

  it.each([null, "news", {}, { type: "news" }, { type: "a b", source: "s" }, { type: "a", source: "" }])(
    "rejects %j as a topic",
    async (topic) => {
      await using runtime = new SingleThreadedAgentRuntime()
      await expectFailure(runtime.publish(News({ text: "" }), topic as never), "TOPIC_ID_INVALID")
    },
  )
})

describe("the default topic", () => {
  it("keeps a conversation under one key without naming it", async () => {
    const heard: string[] = []
    class Teller extends RoutedAgent {
      constructor() {
        super("Tells.")
        this.on(Ask, async () => {
          await this.publish(News({ text: "by agent" }))
          await this.runtime.publish(News({ text: "by runtime" }))
          await this.publish(News({ text: "named" }), defaultTopicId("other"))
        })
      }
    }
    await using runtime = new SingleThreadedAgentRuntime()
    await runtime.register("teller", () => new Teller())
    await runtime.register(
      "ear",
      () =>
        new ClosureAgent([News], ({ text }, { topicId: topic, isRpc }) => {
          heard.push(`${topic?.type}/${topic?.source}:${text}:${isRpc}`)
        }),
      { subscriptions: [defaultSubscription(), typeSubscription("other")] },
    )
    runtime.start()
    await runtime.send(Ask({}), agentId("teller", "tenant-7"))
    await runtime.publish(News({ text: "outside" }))
    await runtime.stopWhenIdle()
    expect(heard).toEqual([
      "default/tenant-7:by agent:false",
      "default/tenant-7:by runtime:false",
      "other/tenant-7:named:false",
      "default/default:outside:false",
    ])
  })
})

describe("subscriptions", () => {
  it("can be added and removed while the runtime runs", async () => {
    const log: string[] = []
    const { runtime, listen } = listening(log)
    await using _ = runtime
    await listen("a")
    runtime.start()
    const subscription = typeSubscription("news", "a")
    await runtime.publish(News({ text: "1" }), topicId("news"))
    await runtime.addSubscription(subscription)
    await runtime.publish(News({ text: "2" }), topicId("news"))
    await runtime.removeSubscription(subscription.id)
    await runtime.publish(News({ text: "3" }), topicId("news"))
    await runtime.stopWhenIdle()
    expect(log).toEqual(["a/default:2"])
    expect(runtime.subscriptions).toEqual([])
  })

  it("are refused twice, for unknown agent types, and unbound", async () => {
    const { runtime, listen } = listening([])
    await using _ = runtime
    await listen("a", "news")
    await expectFailure(runtime.addSubscription(typeSubscription("news", "a")), "SUBSCRIPTION_ALREADY_EXISTS")
    await expectFailure(runtime.addSubscription(typeSubscription("news", "b")), "AGENT_TYPE_UNKNOWN", /"b"/)
    await expectFailure(runtime.addSubscription(typeSubscription("x") as never), "SUBSCRIPTION_INVALID")
    await expectFailure(runtime.removeSubscription("nope"), "SUBSCRIPTION_UNKNOWN", /nope/)
  })

  it("that cannot be added undo the whole registration", async () => {
    const { runtime } = listening([])
    await using _ = runtime
    const factory = (): ClosureAgent<[]> => new ClosureAgent([], () => {})
    const twice = [typeSubscription("one"), typeSubscription("two"), typeSubscription("one")]
    await expectFailure(
      runtime.register("a", factory, { subscriptions: twice }),
      "SUBSCRIPTION_ALREADY_EXISTS",
    )
    const foreign = [typeSubscription("one", "b")]
    await expectFailure(runtime.register("a", factory, { subscriptions: foreign }), "SUBSCRIPTION_INVALID")
    expect(runtime.subscriptions).toEqual([])
    await runtime.register("a", factory, { subscriptions: twice.slice(0, 2) })
    expect(runtime.subscriptions).toHaveLength(2)
  })
})
