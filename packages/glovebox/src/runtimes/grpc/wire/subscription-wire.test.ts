import { describe, expect, it } from "vitest"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { typePrefixSubscription, typeSubscription } from "../../../core/subscription.ts"
import { AUTOGEN_BYTES } from "./autogen-bytes.test-kit.ts"
import { CODECS } from "./codec.ts"
import { fromWireSubscription, toWireSubscription } from "./subscription-wire.ts"

describe("subscriptions on the wire", () => {
  it.each([typeSubscription("t", "echo"), typePrefixSubscription("t:", "echo")])("carries $kind", (given) => {
    const { addSubscriptionRequest: codec } = CODECS
    const { subscription } = codec.decode(codec.encode({ subscription: toWireSubscription(given) }))
    expect(subscription && fromWireSubscription(subscription)).toEqual(given)
  })

  it("reads AutoGen's", () => {
    const bytes = Buffer.from(AUTOGEN_BYTES.subscriptions, "hex")
    const { subscriptions } = CODECS.getSubscriptionsResponse.decode(bytes)
    expect(subscriptions.map((subscription) => fromWireSubscription(subscription))).toEqual([
      { kind: "type", id: "s1", topicType: "t", agentType: "echo" },
      { kind: "type-prefix", id: "s2", topicTypePrefix: "t:", agentType: "echo" },
    ])
  })

  it("refuses what is none", () => {
    expect(failureOf(() => fromWireSubscription({ id: "1" }))).toMatch(/^SUBSCRIPTION_INVALID/)
    const typeSubscription = { topic_type: "t", agent_type: "echo" }
    expect(failureOf(() => fromWireSubscription({ id: "", typeSubscription }))).toMatch(
      /^SUBSCRIPTION_INVALID/,
    )
    const nameless = { topic_type: "t", agent_type: "" }
    expect(failureOf(() => fromWireSubscription({ id: "1", typeSubscription: nameless }))).toMatch(
      /^AGENT_ID_INVALID/,
    )
  })
})
