import fc from "fast-check"
import { describe, expect, expectTypeOf, it } from "vitest"
import { type AgentId, agentId, checkAgentId, formatAgentId, parseAgentId, sameAgentId } from "./agent-id.ts"
import { failureOf } from "./failure-of.test-kit.ts"

const notKeys = ["", "a\n", "a\tb", "\u0000", "\u007f", "\u0085", "\ud800", "a\udc00", "k".repeat(1025)]
const notStrings = [null, 1, 1n, true, {}, ["a"], Symbol("a"), () => "a"]

describe("agentId", () => {
  it("makes a frozen pair, with the key default where none is given", () => {
    const id = agentId("writer")
    expect(id).toEqual({ type: "writer", key: "default" })
    expect(Object.isFrozen(id)).toBe(true)
    expectTypeOf(id).toEqualTypeOf<AgentId>()
    // @ts-expect-error an id is read-only
    expect(() => (id.key = "other")).toThrow(TypeError)
  })

  it.each(["a", "A_b-c.d", "0", "écrivain", "作家", "писатель", "𝒳", "__proto__", "a".repeat(1024)])(
    "takes the type %j",
    (type) => {
      expect(agentId(type).type).toBe(type)
    },
  )

  it.each(["", "a b", "a/b", "a:b", "a=b", "a\n", "\na", " a", "a\u0000", "\ud800", "🙂", "a".repeat(1025)])(
    "refuses the type %j",
    (type) => {
      expect(failureOf(() => agentId(type))).toMatch(
        /^AGENT_ID_INVALID: Agent type ".* is not valid\. Use 1 to 1024/,
      )
    },
  )

  it.each(["k", "with space", "a/b//c", "a:b", "🙂", "clé", "k".repeat(1024)])("takes the key %j", (key) => {
    expect(agentId("a", key).key).toBe(key)
  })

  it.each(notKeys)("refuses the key %j", (key) => {
    expect(failureOf(() => agentId("a", key))).toMatch(/^AGENT_ID_INVALID: Agent key ".* is not valid\. Use/)
  })

  it.each(notStrings)("refuses %s as type and as key", (value) => {
    expect(failureOf(() => agentId(value as never))).toMatch(/^AGENT_ID_INVALID: Agent type/)
    expect(failureOf(() => agentId("a", value as never))).toMatch(/^AGENT_ID_INVALID: Agent key/)
  })

  it("shows what it refuses, short and with nothing that garbles a log", () => {
    expect(failureOf(() => agentId("two\nlines"))).toContain(String.raw`"two\nlines"`)
    expect(failureOf(() => agentId("x y".repeat(1_000_000))).length).toBeLessThan(250)
  })
})

describe("parseAgentId", () => {
  it("divides at the first slash only", () => {
    expect(parseAgentId("writer/a/b/")).toEqual({ type: "writer", key: "a/b/" })
  })

  it.each(["writer", "", "/", "/key", "writer/", "wri ter/key", "writer/key\n"])("refuses %j", (text) => {
    expect(failureOf(() => parseAgentId(text))).toMatch(/^AGENT_ID_INVALID/)
  })

  it("says how to write an id that has no slash", () => {
    expect(failureOf(() => parseAgentId("writer"))).toContain('"writer" has no slash. Write it as "type/key"')
  })

  it.each([undefined, ...notStrings])("refuses %s, which is not text", (value) => {
    expect(failureOf(() => parseAgentId(value as never))).toMatch(/^AGENT_ID_INVALID: .* not the text of/)
  })

  it("gives back every id that formatAgentId wrote", () => {
    const type = fc.stringMatching(/^[\p{L}\p{N}_\-.]{1,20}$/u)
    const unit = fc.constantFrom("a", "é", "e\u0301", "🙂", "/", ":", " ", "\u2028", "%", "作")
    const key = fc.string({ unit, minLength: 1 })
    fc.assert(
      fc.property(type, key, (type, key) => {
        expect(parseAgentId(formatAgentId(agentId(type, key)))).toEqual({ type, key })
      }),
    )
  })

  it("gives an id that is written as it was, or refuses the text, whatever the text", () => {
    const unit = fc.constantFrom("a", "é", "/", "/", ":", "\n", " ", "\ud800", "🙂")
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 6 }), (text) => {
        expect([text, "AGENT_ID_INVALID"]).toContain(outcome(text))
      }),
    )
  })
})

describe("sameAgentId", () => {
  it("compares both parts, and holds nothing to be equal to a missing id", () => {
    const id = agentId("a", "k")
    expect(sameAgentId(id, { type: "a", key: "k" })).toBe(true)
    expect(sameAgentId(id, agentId("a", "l"))).toBe(false)
    expect(sameAgentId(id, agentId("b", "k"))).toBe(false)
    expect(sameAgentId(id, undefined)).toBe(false)
    expect(sameAgentId(undefined, undefined)).toBe(false)
  })
})

describe("checkAgentId", () => {
  it("takes any object with a valid type and key", () => {
    expect(() => checkAgentId({ type: "a", key: "k", more: 1 })).not.toThrow()
  })

  it.each([
    undefined,
    null,
    "a/k",
    1,
    {},
    { type: "a" },
    { key: "k" },
    { type: "a b", key: "k" },
    [],
    () => {},
  ])("refuses %o", (value) => {
    expect(failureOf(() => checkAgentId(value))).toMatch(/^AGENT_ID_INVALID/)
  })

  it.each(notKeys)("refuses the key %j", (key) => {
    expect(failureOf(() => checkAgentId({ type: "a", key }))).toMatch(/^AGENT_ID_INVALID: Agent key/)
  })
})

/** The text read and written again, or the code it is refused with. */
function outcome(text: string): string {
  try {
    return formatAgentId(parseAgentId(text))
  } catch {
    return failureOf(() => parseAgentId(text)).slice(0, 16)
  }
}
