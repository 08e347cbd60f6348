import { describe, expect, it } from "vitest"
import { allowList } from "./egress-gate.test-kit.ts"
import { RuleBook } from "./rule-book.ts"

describe("RuleBook, made from another", () => {
  const rule = (method: string, more: object = {}): object => ({
    to: "a.test:80",
    methods: [method],
    up: 1000,
    ...more,
  })
  const book = (rules: object[], before?: RuleBook): RuleBook =>
    new RuleBook(allowList({ allow: rules as never }), before)
  /** Sends so many bytes, and says how many of them went through. */
  const send = (by: RuleBook, method: string, bytes = 1_000_000): number => {
    const host = { kind: "name", text: "a.test", labels: ["a", "test"] } as const
    const use = { kind: "http", method, path: "/", isUpgrade: false, misleading: undefined } as const
    return by.decide(host, 80, use).budget.take("up", bytes)
  }

  it("leaves a rule that stays what it has, however often", () => {
    let now = book([rule("GET"), rule("POST")])
    send(now, "GET", 300)
    send(now, "POST", 300)
    for (let count = 0; count < 5; count += 1) now = book([rule("GET"), rule("POST")], now)
    expect([send(now, "GET"), send(now, "POST")]).toEqual([700, 700])
  })

  it("counts in a new rule all that was used for its host, once", () => {
    let now = book([rule("GET"), rule("POST")])
    send(now, "GET", 100)
    send(now, "POST", 100)
    for (const paths of [
      ["/a", "/"],
      ["/b", "/"],
      ["/c", "/"],
    ])
      now = book([rule("GET", { paths }), rule("POST", { paths })], now)
    expect([send(now, "GET"), send(now, "POST")]).toEqual([800, 800])
  })

  it("counts on while an old rule and new ones are used", () => {
    let now = book([rule("GET")])
    send(now, "GET", 100)
    now = book([rule("GET"), rule("PUT")], now)
    send(now, "GET", 100)
    // What the old one had used when this one came is used in it too.
    now = book([rule("GET"), rule("PUT"), rule("POST")], now)
    expect([send(now, "POST"), send(now, "PUT"), send(now, "GET")]).toEqual([800, 900, 800])
  })
})
