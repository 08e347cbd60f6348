import { describe, expect, expectTypeOf, it } from "vitest"
import { failureOf } from "./failure-of.test-kit.ts"
import type { JsonObject } from "./json.ts"
import { type RuntimeState, checkAgentState, createRuntimeState, parseRuntimeState } from "./runtime-state.ts"
import { typePrefixSubscription, typeSubscription } from "./subscription.ts"

const state = createRuntimeState({ "counter/a": { total: 1, list: [null] } }, [
  typeSubscription("news", "counter"),
  typePrefixSubscription("news.", "counter"),
])

describe("parseRuntimeState", () => {
  it("reads what createRuntimeState wrote, through JSON", () => {
    expect(parseRuntimeState(JSON.parse(JSON.stringify(state)))).toEqual(state)
    expect(state).toMatchObject({ type: "RuntimeState", version: 1 })
    expectTypeOf<RuntimeState>().toExtend<JsonObject>()
  })

  it.each<[string, unknown, RegExp]>([
    ["nothing", undefined, /expected object/],
    ["text", JSON.stringify(state), /expected object/],
    ["another document", { ...state, type: "TeamState" }, /type: /],
    ["a newer version", { ...state, version: 2 }, /version 1: version: /],
    ["no version", { type: "RuntimeState", agents: {}, subscriptions: [] }, /version: /],
    ["an agent's state that is a list", { ...state, agents: { "a/b": [] } }, /agents\.a\/b: /],
    ["an unknown kind of subscription", { ...state, subscriptions: [{ kind: "all" }] }, /subscriptions\.0/],
    ["fields of a later release", { ...state, approvals: [] }, /approvals/],
  ])("refuses %s", (_, value, message) => {
    const failure = failureOf(() => parseRuntimeState(value))
    expect(failure).toMatch(/^STATE_INVALID: This is not a runtime state of version 1/)
    expect(failure).toMatch(message)
  })

  it("is not misled by a key __proto__", () => {
    const text = '{"type":"RuntimeState","version":1,"agents":{"__proto__":{"x":1}},"subscriptions":[]}'
    const { agents } = parseRuntimeState(JSON.parse(text))
    expect(agents).not.toHaveProperty("x")
    expect({}).not.toHaveProperty("x")
  })
})

describe("checkAgentState", () => {
  it("takes a JSON object", () => {
    expect(() => checkAgentState("a/b", { list: [1, { deep: null }], absent: undefined })).not.toThrow()
  })

  it.each<[string, unknown, RegExp]>([
    ["nothing", undefined, /is not JSON: the value is undefined/],
    ["a list", [], /is not an object\. Return one from saveState/],
    ["null", null, /is not an object/],
    ["a Map", new Map(), /is not JSON: the value is a Map/],
    ["a promise, forgotten to be awaited", Promise.resolve({}), /is not JSON: the value is a Promise/],
    ["a Date inside", { seen: [new Date(0)] }, /is not JSON: seen\[0\] is a Date/],
  ])("refuses %s, and names the agent", (_, value, message) => {
    const failure = failureOf(() => checkAgentState("counter/a", value))
    expect(failure).toMatch(/^STATE_INVALID: The state of agent counter\/a /)
    expect(failure).toMatch(message)
  })
})
