import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { failureOf } from "./failure-of.test-kit.ts"
import {
  type Subscription,
  type TypeSubscription,
  matchesTopic,
  typePrefixSubscription,
  typeSubscription,
} from "./subscription.ts"
import { SubscriptionTable } from "./subscription-table.ts"
import { topicId } from "./topic-id.ts"

function tableOf(...subscriptions: readonly Subscription[]): SubscriptionTable {
  const table = new SubscriptionTable()
  for (const subscription of subscriptions) table.add(subscription)
  return table
}

describe("SubscriptionTable", () => {
  it("finds nobody for a topic type that nobody subscribed to", () => {
    expect(new SubscriptionTable().agentTypesFor("news")).toEqual([])
    expect(tableOf(typeSubscription("sport", "a")).agentTypesFor("news")).toEqual([])
    expect(tableOf(typeSubscription("sport", "a")).agentTypesFor("__proto__")).toEqual([])
  })

  it("finds exact and prefix subscribers in the order they were added", () => {
    const table = tableOf(
      typePrefixSubscription("ne", "c"),
      typeSubscription("news", "b"),
      typePrefixSubscription("news", "a"),
      typeSubscription("news", "d"),
      typePrefixSubscription("news.", "e"),
    )
    expect(table.agentTypesFor("news")).toEqual(["c", "b", "a", "d"])
    expect(table.agentTypesFor("news.sport")).toEqual(["c", "a", "e"])
    expect(table.agentTypesFor("n")).toEqual([])
  })

  it("finds an agent type once, at its first place, however many subscriptions reach it", () => {
    const table = tableOf(
      typePrefixSubscription("n", "a"),
      typeSubscription("news", "b"),
      typeSubscription("news", "a"),
      typePrefixSubscription("news", "a"),
    )
    expect(table.agentTypesFor("news")).toEqual(["a", "b"])
  })

  it("lists subscriptions in the order they were added", () => {
    const first = typePrefixSubscription("n", "a")
    const second = typeSubscription("news", "a")
    const table = tableOf(first, second)
    expect(table.list()).toEqual([first, second])
    table.remove(first.id)
    table.add(first)
    expect(table.list()).toEqual([second, first])
  })

  it("refuses the same route twice, and names the one that exists", () => {
    for (const make of [typeSubscription, typePrefixSubscription]) {
      const first = make("news", "a")
      const table = tableOf(first)
      const again = make("news", "a")
      expect(table.has(again)).toBe(true)
      expect(failureOf(() => table.add(again))).toMatch(
        new RegExp(`^SUBSCRIPTION_ALREADY_EXISTS: .*"a" to .*"news" exists already \\(id ${first.id}\\)`),
      )
      expect(table.list()).toEqual([first])
    }
  })

  it("refuses the same id twice, and names what the id belongs to", () => {
    const first = typeSubscription("news", "a")
    const second = { ...typePrefixSubscription("sport", "b"), id: first.id }
    const table = tableOf(first)
    expect(table.has(second)).toBe(false)
    expect(failureOf(() => table.add(second))).toMatch(
      /^SUBSCRIPTION_ALREADY_EXISTS: The id .* is taken: .*"a" to topic type "news"/,
    )
    expect(table.agentTypesFor("sport")).toEqual([])
  })

  it("tells an exact route from a prefix route of the same text", () => {
    const table = tableOf(typeSubscription("news", "a"))
    expect(table.has(typePrefixSubscription("news", "a"))).toBe(false)
    table.add(typePrefixSubscription("news", "a"))
    expect(table.list()).toHaveLength(2)
  })

  it("refuses to remove what it does not have, also a second time", () => {
    const only = typeSubscription("news", "a")
    const table = tableOf(only)
    expect(failureOf(() => table.remove("nope"))).toMatch(/^SUBSCRIPTION_UNKNOWN: .*"nope"/)
    expect(failureOf(() => table.remove(Symbol("x") as never))).toMatch(
      /^SUBSCRIPTION_UNKNOWN: .*Symbol\(x\)/,
    )
    table.remove(only.id)
    expect(failureOf(() => table.remove(only.id))).toMatch(/^SUBSCRIPTION_UNKNOWN/)
  })

  it("forgets what it found when a subscription comes or goes", () => {
    const table = tableOf(typeSubscription("news", "a"))
    expect(table.agentTypesFor("news")).toEqual(["a"])
    const prefix = typePrefixSubscription("n", "b")
    table.add(prefix)
    expect(table.agentTypesFor("news")).toEqual(["a", "b"])
    table.remove(prefix.id)
    expect(table.agentTypesFor("news")).toEqual(["a"])
    expect(table.has(prefix)).toBe(false)
  })

  it("remembers what it found, but not of ever more topic types", () => {
    const table = tableOf(typePrefixSubscription("session.", "a"))
    const first = table.agentTypesFor("session.0")
    expect(table.agentTypesFor("session.0")).toBe(first)
    for (let index = 1; index < 5000; index += 1) table.agentTypesFor(`session.${index}`)
    // A new array means that the remembered one was let go.
    expect(table.agentTypesFor("session.0")).not.toBe(first)
    expect(table.agentTypesFor("session.0")).toEqual(first)
  })

  it("answers like a plain list, whatever is added, removed and asked", () => {
    const topicType = fc.string({
      unit: fc.constantFrom("a", "b", "𝒳", "𝒴", "."),
      minLength: 1,
      maxLength: 4,
    })
    const agentType = fc.constantFrom("p", "q", "r")
    const step = fc.oneof(
      fc.record({ do: fc.constant("add"), prefix: fc.boolean(), topicType, agentType, index: fc.nat() }),
      fc.record({ do: fc.constant("remove"), prefix: fc.boolean(), topicType, agentType, index: fc.nat() }),
    )
    const cases = fc.tuple(
      fc.array(step, { maxLength: 15 }),
      fc.array(topicType, { minLength: 1, maxLength: 6 }),
    )
    fc.assert(
      fc.property(cases, ([steps, asked]) => {
        const table = new SubscriptionTable()
        let plain: Subscription[] = []
        for (const { do: what, prefix, topicType, agentType, index } of steps) {
          const made = (prefix ? typePrefixSubscription : typeSubscription)(topicType, agentType)
          const victim = plain[index % (plain.length || 1)]
          if (what === "remove" && victim) {
            table.remove(victim.id)
            plain = plain.filter((other) => other !== victim)
          } else if (!table.has(made)) {
            table.add(made)
            plain.push(made)
          }
          expect(asked.map((type) => table.agentTypesFor(type))).toEqual(
            asked.map((type) => naive(plain, type)),
          )
        }
        expect(table.list()).toEqual(plain)
        expect(plain.map(routeOf)).toEqual([...new Set(plain.map(routeOf))])
      }),
      { numRuns: 200 },
    )
  })
})

function naive(subscriptions: readonly Subscription[], topicType: string): string[] {
  const matching = subscriptions.filter((subscription) => matchesTopic(subscription, topicId(topicType)))
  return [...new Set(matching.map(({ agentType }) => agentType))]
}

function routeOf(subscription: Subscription): string {
  const { id: _id, ...route } = subscription as TypeSubscription
  return JSON.stringify(route)
}
