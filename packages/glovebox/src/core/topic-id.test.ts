import fc from "fast-check"
import { describe, expect, expectTypeOf, it } from "vitest"
import { failureOf } from "./failure-of.test-kit.ts"
import { type TopicId, checkTopicId, formatTopicId, parseTopicId, topicId } from "./topic-id.ts"

describe("topicId", () => {
  it("makes a frozen pair, with the source default where none is given", () => {
    const topic = topicId("news")
    expect(topic).toEqual({ type: "news", source: "default" })
    expect(Object.isFrozen(topic)).toBe(true)
    expectTypeOf(topic).toEqualTypeOf<TopicId>()
  })

  it.each(["news", "a_b-c.d", "writer:rpc_request=reader", ":", "=", "новости", "t".repeat(1024)])(
    "takes the type %j",
    (type) => {
      expect(topicId(type).type).toBe(type)
    },
  )

  it.each(["", "a b", "a/b", "news\n", "a\u0000", "\udfff", "🙂", "t".repeat(1025), null, 1, Symbol("t")])(
    "refuses the type %s",
    (type) => {
      expect(failureOf(() => topicId(type as never))).toMatch(
        /^TOPIC_ID_INVALID: Topic type .* is not valid\. Use/,
      )
    },
  )

  it.each(["session 1", "a/b", "https://example.org/x?y=z", "🙂"])("takes the source %j", (source) => {
    expect(topicId("news", source).source).toBe(source)
  })

  it.each(["", "s\n", "\u001b[31m", "\ud83d", "s".repeat(1025), null, 1, {}])(
    "refuses the source %s",
    (source) => {
      expect(failureOf(() => topicId("news", source as never))).toMatch(/^TOPIC_ID_INVALID: Topic source/)
    },
  )
})

describe("parseTopicId", () => {
  it("divides at the first slash only", () => {
    expect(parseTopicId("a:b=c/s/t")).toEqual({ type: "a:b=c", source: "s/t" })
  })

  it.each(["news", "", "/", "/source", "news/", "ne ws/s", null, undefined, 1, ["a/b"]])(
    "refuses %j",
    (text) => {
      expect(failureOf(() => parseTopicId(text as never))).toMatch(/^TOPIC_ID_INVALID/)
    },
  )

  it("gives back every topic that formatTopicId wrote", () => {
    const type = fc.stringMatching(/^[\p{L}\p{N}_\-.:=]{1,20}$/u)
    const unit = fc.constantFrom("a", "é", "e\u0301", "🙂", "/", ":", " ", "\u2028", "%", "作")
    const source = fc.string({ unit, minLength: 1 })
    fc.assert(
      fc.property(type, source, (type, source) => {
        expect(parseTopicId(formatTopicId(topicId(type, source)))).toEqual({ type, source })
      }),
    )
  })
})

describe("checkTopicId", () => {
  it.each([undefined, null, "a/b", {}, { type: "a" }, { source: "s" }, { type: "a", source: "" }])(
    "refuses %j",
    (value) => {
      expect(failureOf(() => checkTopicId(value))).toMatch(/^TOPIC_ID_INVALID/)
    },
  )
})
