import assert from "node:assert/strict"
import {
  RoutedAgent,
  agentId,
  defaultSubscription,
  defaultTopicId,
  topicId,
  typePrefixSubscription,
  typeSubscription,
} from "../../core/index.ts"
import { rejectsWith } from "../expectations.ts"
import { Other, type RuntimeSuite, Say, type Stage, latch, say, until } from "./runtime-suite.ts"

/** Registers a type that listens to topics, and writes down what it hears. */
function listener({ agent }: Stage, heard: string[]): (type: string, ...topics: string[]) => Promise<void> {
  return (type, ...topics) =>
    agent(type, ({ text }, _context, { id }) => void heard.push(`${id.type}/${id.key}:${text}`), {
      subscriptions: topics.map((topic) => typeSubscription(topic)),
    })
}

export function defineRuntimePublications({ it }: RuntimeSuite): void {
  it("reach every subscriber under the topic's source, and nobody else", async (open) => {
    const stage = await open()
    const heard: string[] = []
    const listen = listener(stage, heard)
    await listen("a", "news")
    await listen("b", "news")
    await listen("c", "weather")
    await stage.start()
    await stage.away.publish(say("x"), topicId("news", "s1"))
    await stage.away.publish(say("y"), topicId("news", "s2"))
    await stage.away.whenIdle()
    assert.deepEqual(heard.toSorted(), ["a/s1:x", "a/s2:y", "b/s1:x", "b/s2:y"])
  })

  it("reach an agent once, though several of its subscriptions match", async (open) => {
    const stage = await open()
    const heard: string[] = []
    await listener(stage, heard)("a", "news")
    await stage.home.addSubscription(typePrefixSubscription("ne", "a"))
    await stage.start()
    await stage.home.addSubscription(typePrefixSubscription("news", "a"))
    await stage.away.publish(say("once"), topicId("news"))
    await stage.away.publish(say("prefix"), topicId("newt"))
    await stage.away.whenIdle()
    assert.deepEqual(heard.toSorted(), ["a/default:once", "a/default:prefix"])
  })

  it("never reach their own sender, but its type under another key", async (open) => {
    const stage = await open()
    const heard: string[] = []
    await listener(stage, heard)("a", "news")
    await stage.start()
    const sender = agentId("a", "me")
    await stage.away.publish(say("1"), topicId("news", "me"), { sender })
    await stage.away.publish(say("2"), topicId("news", "you"), { sender })
    await stage.away.whenIdle()
    assert.deepEqual(heard, ["a/you:2"])
  })

  it("of an agent in a handler do not come back to it", async (open) => {
    const { away, agent, start } = await open()
    const heard: string[] = []
    const subscriptions = [typeSubscription("news")]
    await agent("other", ({ text }) => void heard.push(`other:${text}`), { subscriptions })
    await agent(
      "teller",
      async ({ text }, { isRpc, sender }, self) => {
        heard.push(`teller:${text}:${isRpc}:${sender?.type}`)
        if (isRpc) await self.publish(say("told"), topicId("news", "k"))
      },
      { subscriptions: [typeSubscription("news")] },
    )
    await start()
    await away.send(say("go"), agentId("teller", "k"))
    await away.whenIdle()
    assert.deepEqual(heard, ["teller:go:true:undefined", "other:told"])
  })

  it("are fine when nobody listens, and when the sender is of no registered type", async (open) => {
    const stage = await open()
    const heard: string[] = []
    await listener(stage, heard)("a", "news")
    await stage.start()
    await stage.away.publish(say("void"), topicId("silence"))
    await stage.away.publish(say("x"), topicId("news"), { sender: agentId("stranger") })
    await stage.away.whenIdle()
    assert.deepEqual(heard, ["a/default:x"])
  })

  it("let a failing recipient fail alone, and idle wait for the others", async (open) => {
    const { home, away, agent, register, start } = await open()
    const opened = latch()
    const failed: unknown[] = []
    let isSlowDone = false
    const subscriptions = [typeSubscription("news")]
    home.on("handler-failed", ({ error }) => failed.push(error))
    await agent("bad", () => Promise.reject(new Error("boom")), { subscriptions })
    await register("unbuildable", () => Promise.reject(new Error("no")), {
      subscriptions: [typeSubscription("news")],
    })
    await agent(
      "slow",
      async () => {
        await opened.opened
        isSlowDone = true
      },
      { subscriptions: [typeSubscription("news")] },
    )
    await start()
    await away.publish(say(""), topicId("news"))
    let isIdle = false
    const whenIdle = away.whenIdle().then(() => (isIdle = true))
    await until(() => failed.length > 0)
    assert.equal(isIdle, false)
    opened.open()
    await whenIdle
    assert.equal(isSlowDone, true)
  })

  it("of a type that a recipient does not handle hurt nobody, and it tells", async (open) => {
    const stage = await open({ ignoreUnhandledExceptions: false })
    const heard: string[] = []
    const unhandled: unknown[] = []
    stage.home.on("message-unhandled", ({ recipient }) => unhandled.push(recipient))
    await listener(stage, heard)("a", "news")
    await stage.start()
    await stage.away.publish(Other({}), topicId("news"))
    await stage.away.publish(say("x"), topicId("news"))
    await stage.away.whenIdle()
    assert.deepEqual(unhandled, [agentId("a")])
    assert.deepEqual(heard, ["a/default:x"])
  })

  it("tell the handler where, by whom and under which id", async (open) => {
    const { away, agent, start } = await open()
    const seen: unknown[] = []
    await agent(
      "watch",
      (_message, context) => {
        const { topicId: topic, sender, messageId, isRpc } = context
        seen.push([topic, sender, messageId, isRpc])
      },
      { subscriptions: [typeSubscription("news")] },
    )
    await start()
    const sender = agentId("caller", "c")
    await away.publish(say(""), topicId("news", "s"), { sender, messageId: "m-1" })
    await away.whenIdle()
    assert.deepEqual(seen, [[topicId("news", "s"), sender, "m-1", false]])
  })

  it("on the default topic keep a conversation under one key without naming it", async (open) => {
    class Teller extends RoutedAgent {
      constructor() {
        super("Tells.")
        this.on(Say, async () => {
          await this.publish(say("by agent"))
          await this.runtime.publish(say("by runtime"))
          await this.publish(say("named"), defaultTopicId("other"))
        })
      }
    }
    const { away, register, agent, start } = await open()
    const heard: string[] = []
    await register("teller", () => new Teller())
    await agent(
      "ear",
      ({ text }, { topicId: topic }) => void heard.push(`${topic?.type}/${topic?.source}:${text}`),
      { subscriptions: [defaultSubscription(), typeSubscription("other")] },
    )
    await start()
    await away.send(say(""), agentId("teller", "tenant-7"))
    await away.publish(say("outside"))
    await away.whenIdle()
    assert.deepEqual(heard.toSorted(), [
      "default/default:outside",
      "default/tenant-7:by agent",
      "default/tenant-7:by runtime",
      "other/tenant-7:named",
    ])
  })

  it("to no valid topic, or of no message, are refused", async (open) => {
    const { away, start } = await open()
    await start()
    for (const topic of [null, "news", {}, { type: "news" }, { type: "a b", source: "s" }]) {
      await rejectsWith(away.publish(say(""), topic as never), "TOPIC_ID_INVALID")
    }
    await rejectsWith(away.publish({ text: "" } as never, topicId("news")), "MESSAGE_INVALID")
  })
}
