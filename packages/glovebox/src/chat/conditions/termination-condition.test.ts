import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { say, tell } from "./conditions.test-kit.ts"
import {
  AndTerminationCondition,
  ExternalTermination,
  FunctionalTermination,
  MaxMessageTermination,
  OrTerminationCondition,
  type TerminationCondition,
  TextMentionTermination,
} from "./index.ts"

const mention = (text: string): TextMentionTermination => new TextMentionTermination(text)

describe("a condition that has fired", () => {
  it.each([
    ["alone", () => mention("x")],
    ["in an and", () => mention("x").and(mention("x"))],
    ["in an or", () => mention("x").or(mention("y"))],
  ])("refuses another check with one and the same error, %s, until it is reset", async (_, make) => {
    const condition = make()
    expect(await condition.check({ messages: [say("x")], isTask: false })).toMatchObject({
      type: "StopMessage",
      source: condition.constructor.name,
    })
    await expect(tell(condition, say("x"))).rejects.toMatchObject({
      name: "GloveboxError",
      code: "CONDITION_TERMINATED",
    })
    await condition.reset()
    expect(condition.terminated).toBe(false)
    expect(await tell(condition, say("x"))).toBeDefined()
  })

  it("is not one of a run that was over before it answered", async () => {
    const answers: ((isOver: boolean) => void)[] = []
    const condition = new FunctionalTermination(() => new Promise((resolve) => answers.push(resolve)))
    const checking = tell(condition, say("x"))
    await condition.reset()
    answers[0]?.(true)
    expect(await checking).toBeUndefined()
    expect(condition.terminated).toBe(false)
  })
})

describe("AndTerminationCondition", () => {
  it("remembers who has fired, and fires with the last", async () => {
    const condition = mention("A").and(mention("B")).and(mention("C"))
    expect(await tell(condition, say("C"))).toBeUndefined()
    expect(await tell(condition, say("A"))).toBeUndefined()
    expect(await tell(condition, say("nothing"))).toBeUndefined()
    expect(await tell(condition, say("B"))).toBe('writer said "A". writer said "B". writer said "C".')
  })

  it("remembers it in its state too", async () => {
    const make = (): AndTerminationCondition =>
      new AndTerminationCondition(mention("A"), new MaxMessageTermination(3))
    const first = make()
    await tell(first, say("A"), say("1"))
    const second = make()
    second.loadState(JSON.parse(JSON.stringify(first.saveState())))
    expect(await tell(second, say("2"))).toBe('writer said "A". There are 3 messages, and 3 are allowed.')
  })
})

describe("OrTerminationCondition", () => {
  it("gives the reasons of those that fired together, and shows each of them everything", async () => {
    const max = new MaxMessageTermination(2)
    const condition = mention("A").or(mention("B")).or(max).or(mention("C"))
    expect(await tell(condition, say("1"))).toBeUndefined()
    expect(await tell(condition, say("A and C"))).toBe(
      'writer said "A". There are 2 messages, and 2 are allowed. writer said "C".',
    )
    expect([condition.terminated, max.terminated]).toEqual([true, true])
    await condition.reset()
    expect(max.terminated).toBe(false)
  })

  it("works with an and inside, and inside an and", async () => {
    const inside = mention("A").and(mention("B")).or(mention("C"))
    expect(await tell(inside, say("A"))).toBeUndefined()
    expect(await tell(inside, say("B"))).toBe('writer said "A". writer said "B".')
    const outside = mention("A").and(mention("B").or(mention("C")))
    expect(await tell(outside, say("C"))).toBeUndefined()
    expect(await tell(outside, say("A"))).toBe('writer said "A". writer said "C".')
  })
})

describe("a combination", () => {
  it("of three is one of three, and another kind stays inside", () => {
    const [a, b, c] = [mention("A"), mention("B"), mention("C")]
    expect(a.or(b).or(c)).toMatchObject({ conditions: [a, b, c] })
    expect(a.or(b.or(c))).toMatchObject({ conditions: [a, b, c] })
    const both = a.and(b)
    expect(both.or(c)).toMatchObject({ conditions: [both, c] })
  })

  it("refuses a condition twice, something else, and nothing", () => {
    const a = mention("A")
    expect(failureOf(() => a.and(mention("B")).or(a))).toMatch(
      /^OPTION_INVALID: One TextMentionTermination is here twice/,
    )
    expect(failureOf(() => a.or("B" as never))).toMatch(/^OPTION_INVALID: "B" is no termination condition/)
    expect(failureOf(() => new OrTerminationCondition())).toMatch(/^OPTION_INVALID: .*at least one/)
  })
})

describe("the state of a condition", () => {
  it("lets another one go on from there", async () => {
    const first = new MaxMessageTermination(3)
    await tell(first, say("1"), say("2"))
    const second = new MaxMessageTermination(3)
    second.loadState(first.saveState())
    expect(await tell(second, say("3"))).toBeDefined()
  })

  it("keeps that it has fired, and that it is about to", async () => {
    const fired = mention("A")
    await tell(fired, say("A"))
    const again = mention("A")
    again.loadState(fired.saveState())
    expect(again.stopMessage).toMatchObject({ content: 'writer said "A".' })
    await expect(tell(again)).rejects.toMatchObject({ code: "CONDITION_TERMINATED" })
    const button = new ExternalTermination()
    button.set()
    const other = new ExternalTermination()
    other.loadState(button.saveState())
    expect(await tell(other)).toBeDefined()
  })

  it("of a combination is taken up whole, or not at all", async () => {
    const limits = new MaxMessageTermination(3).and(new ExternalTermination())
    const two = { terminated: null, counted: { messages: 2 } }
    const state = { terminated: null, counted: { conditions: [two, two] } }
    expect(failureOf(() => limits.loadState(state))).toMatch(/^STATE_INVALID/)
    expect(limits.saveState()).toMatchObject({ counted: { conditions: [{ counted: { messages: 0 } }, {}] } })
  })

  it("is refused by another kind of condition", () => {
    const states = [new MaxMessageTermination(3), new ExternalTermination(), mention("A").or(mention("B"))]
    for (const condition of states) {
      for (const other of states.filter((each) => each !== condition)) {
        expect(failureOf(() => other.loadState(condition.saveState()))).toMatch(
          /^STATE_INVALID: This is no state of /,
        )
      }
    }
    expect(failureOf(() => mention("A").loadState({}))).toMatch(/^STATE_INVALID/)
    const three = mention("A").or(mention("B")).or(mention("C"))
    expect(failureOf(() => three.loadState(mention("A").or(mention("B")).saveState()))).toMatch(
      /^STATE_INVALID/,
    )
  })
})

describe("a condition that takes part in a run", () => {
  it.each([
    ["alone", (shared: TerminationCondition) => shared],
    ["inside another", (shared: TerminationCondition) => mention("B").or(shared)],
  ])("takes part in no other one meanwhile, %s", (_, other) => {
    const shared = new MaxMessageTermination(3)
    const end = shared.or(mention("A")).watch(() => {})
    expect(failureOf(() => other(shared).watch(() => {}))).toMatch(
      /^RUN_ACTIVE: This MaxMessageTermination is at work in another run\. Make one for each team\./,
    )
    end()
    const both = other(shared)
    both.watch(() => {})()
    both.watch(() => {})()
  })
})
