import assert from "node:assert/strict"
import { topicId, typeSubscription } from "../../core/index.ts"
import { rejectsWith } from "../expectations.ts"
import { type RuntimeSuite, say } from "./runtime-suite.ts"

export function defineRuntimeSubscriptions({ it }: RuntimeSuite): void {
  it("can be added and removed while the runtime runs", async (open) => {
    const { home, away, agent, start } = await open()
    const heard: string[] = []
    await agent("a", ({ text }) => void heard.push(text))
    await start()
    const subscription = typeSubscription("news", "a")
    await away.publish(say("1"), topicId("news"))
    await home.addSubscription(subscription)
    await away.publish(say("2"), topicId("news"))
    await away.whenIdle()
    await home.removeSubscription(subscription.id)
    await away.publish(say("3"), topicId("news"))
    await away.whenIdle()
    assert.deepEqual(heard, ["2"])
  })

  it("are refused twice, for unknown agent types, and unbound", async (open) => {
    const { home, agent, start } = await open()
    await agent("a", () => {}, { subscriptions: [typeSubscription("news")] })
    await start()
    const again = typeSubscription("news", "a")
    await rejectsWith(home.addSubscription(again), "SUBSCRIPTION_ALREADY_EXISTS")
    const unknown = typeSubscription("news", "nobody")
    await rejectsWith(home.addSubscription(unknown), "AGENT_TYPE_UNKNOWN", /"nobody"/)
    await rejectsWith(home.addSubscription(typeSubscription("x") as never), "SUBSCRIPTION_INVALID")
    await rejectsWith(home.removeSubscription("nope"), "SUBSCRIPTION_UNKNOWN", /nope/)
  })

  it("that cannot be added undo the whole registration", async (open) => {
    const { away, agent, start } = await open()
    await start()
    const heard: string[] = []
    const twice = [typeSubscription("one"), typeSubscription("two"), typeSubscription("one")]
    const hear = ({ text }: { readonly text: string }): void => void heard.push(text)
    await rejectsWith(agent("a", hear, { subscriptions: twice }), "SUBSCRIPTION_ALREADY_EXISTS")
    const foreign = [typeSubscription("one", "b")]
    await rejectsWith(agent("a", hear, { subscriptions: foreign }), "SUBSCRIPTION_INVALID")
    await away.publish(say("too early"), topicId("two"))
    await away.whenIdle()
    await agent("a", hear, { subscriptions: twice.slice(0, 2) })
    await away.publish(say("x"), topicId("one"))
    await away.publish(say("y"), topicId("two"))
    await away.whenIdle()
    assert.deepEqual(heard.toSorted(), ["x", "y"])
  })
}
