import { describe, expect, expectTypeOf, it } from "vitest"
import { failureOf } from "./failure-of.test-kit.ts"
import {
  type TypePrefixSubscription,
  type TypeSubscription,
  type UnboundSubscription,
  bindSubscription,
  defaultSubscription,
  matchesTopic,
  typePrefixSubscription,
  typeSubscription,
} from "./subscription.ts"
import { topicId } from "./topic-id.ts"

describe("typeSubscription", () => {
  it("is frozen data with an id of its own", () => {
    const subscription = typeSubscription("news", "reader")
    expect(subscription).toMatchObject({ kind: "type", topicType: "news", agentType: "reader" })
    expect(Object.isFrozen(subscription)).toBe(true)
    expect(typeSubscription("news", "reader").id).not.toBe(subscription.id)
    expectTypeOf(subscription).toEqualTypeOf<TypeSubscription>()
    expectTypeOf(typeSubscription("news")).toEqualTypeOf<UnboundSubscription>()
  })

  it("matches its topic type exactly, of any source", () => {
    const subscription = typeSubscription("news", "reader")
    expect(matchesTopic(subscription, topicId("news", "a"))).toBe(true)
    expect(matchesTopic(subscription, topicId("news", "b/c"))).toBe(true)
    expect(matchesTopic(subscription, topicId("news.sport"))).toBe(false)
    expect(matchesTopic(subscription, topicId("News"))).toBe(false)
  })

  it.each(["", "a b", "a/b", "news\n", null, undefined, 1])("refuses the topic type %j", (topicType) => {
    expect(failureOf(() => typeSubscription(topicType as never, "reader"))).toMatch(/^TOPIC_ID_INVALID/)
    expect(failureOf(() => typePrefixSubscription(topicType as never, "reader"))).toMatch(/^TOPIC_ID_INVALID/)
  })

  it.each(["", "a b", "a/b", "reader\n", null, 1])("refuses the agent type %j", (agentType) => {
    expect(failureOf(() => typeSubscription("news", agentType as never))).toMatch(/^AGENT_ID_INVALID/)
    expect(failureOf(() => typePrefixSubscription("news", agentType as never))).toMatch(/^AGENT_ID_INVALID/)
    expect(failureOf(() => defaultSubscription(agentType as never))).toMatch(/^AGENT_ID_INVALID/)
  })
})

describe("typePrefixSubscription", () => {
  it("matches every topic type that starts with its prefix", () => {
    const subscription = typePrefixSubscription("writer:", "writer")
    expectTypeOf(subscription).toEqualTypeOf<TypePrefixSubscription>()
    expect(matchesTopic(subscription, topicId("writer:"))).toBe(true)
    expect(matchesTopic(subscription, topicId("writer:rpc_request=reader"))).toBe(true)
    expect(matchesTopic(subscription, topicId("writer"))).toBe(false)
    expect(matchesTopic(subscription, topicId("a.writer:"))).toBe(false)
  })
})

describe("defaultSubscription", () => {
  it("is to the default topic, bound or not", () => {
    expect(defaultSubscription()).toMatchObject({ kind: "type", topicType: "default", agentType: undefined })
    expect(defaultSubscription("reader")).toMatchObject({ topicType: "default", agentType: "reader" })
  })
})

describe("bindSubscription", () => {
  it("fills in the agent type of the registration, and changes nothing else", () => {
    for (const unbound of [
      typeSubscription("news"),
      typePrefixSubscription("news."),
      defaultSubscription(),
    ]) {
      const bound = bindSubscription(unbound, "reader")
      expect(bound).toEqual({ ...unbound, agentType: "reader" })
      expect(Object.isFrozen(bound)).toBe(true)
      expect(unbound.agentType).toBeUndefined()
    }
  })

  it("takes one that names the registered agent type itself", () => {
    const subscription = typeSubscription("news", "reader")
    expect(bindSubscription(subscription, "reader")).toEqual(subscription)
    expect(bindSubscription(subscription)).toEqual(subscription)
  })

  it("refuses one for another agent type than the registered", () => {
    expect(failureOf(() => bindSubscription(typeSubscription("news", "writer"), "reader"))).toMatch(
      /^SUBSCRIPTION_INVALID: .*"writer".*"reader" is registered\. Leave the agent type out/,
    )
  })

  it("refuses one without an agent type where none is registered", () => {
    expect(failureOf(() => bindSubscription(typeSubscription("news")))).toMatch(
      /^SUBSCRIPTION_INVALID: .*names no agent type/,
    )
  })

  it("refuses an invalid agent type already at registration", () => {
    expect(failureOf(() => bindSubscription(typeSubscription("news"), "not valid"))).toMatch(
      /^AGENT_ID_INVALID/,
    )
    expect(failureOf(() => bindSubscription({ ...typeSubscription("news", "a"), agentType: "a b" }))).toMatch(
      /^AGENT_ID_INVALID/,
    )
  })

  it.each([undefined, null, "news", 1, {}, [], { kind: "all", id: "1" }, { kind: "__proto__", id: "1" }])(
    "refuses %j",
    (value) => {
      expect(failureOf(() => bindSubscription(value as never, "reader"))).toMatch(/^SUBSCRIPTION_INVALID/)
    },
  )

  it("refuses hand-made data with a bad id, topic type or agent type", () => {
    const good = typeSubscription("news", "reader")
    expect(failureOf(() => bindSubscription({ ...good, id: "" }))).toMatch(/^SUBSCRIPTION_INVALID: .*id ""/)
    expect(failureOf(() => bindSubscription({ ...good, id: 7 as never }))).toMatch(
      /^SUBSCRIPTION_INVALID: .*id 7/,
    )
    expect(failureOf(() => bindSubscription({ ...good, topicType: "a b" }))).toMatch(/^TOPIC_ID_INVALID/)
    const prefix = { ...typePrefixSubscription("news", "reader"), topicTypePrefix: "" }
    expect(failureOf(() => bindSubscription(prefix))).toMatch(/^TOPIC_ID_INVALID/)
    const odd = { ...good, agentType: Symbol("reader") as never }
    expect(failureOf(() => bindSubscription(odd, "reader"))).toMatch(
      /^SUBSCRIPTION_INVALID: .*Symbol\(reader\)/,
    )
  })
})
