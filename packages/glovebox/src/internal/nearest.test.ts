import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { nearest } from "./nearest.ts"

const known = ["glovebox.agents.AssistantAgent", "glovebox.agents.CodeExecutorAgent", "tool"]

describe("nearest", () => {
  it.each([
    ["glovebox.agents.AssistentAgent", "glovebox.agents.AssistantAgent"],
    ["glovebox.agents.assistantagent", "glovebox.agents.AssistantAgent"],
    ["glovebox.agents.CodeExecutor", "glovebox.agents.CodeExecutorAgent"],
    ["tol", "tool"],
    ["tools", "tool"],
    ["otol", "tool"],
    ["toad", "tool"],
    ["TOOL", "tool"],
  ])("finds for %s: %s", (name, found) => {
    expect(nearest(name, known)).toBe(found)
  })

  it.each(["", "x", "agent", "os.system"])("finds nothing close to %j", (name) => {
    expect(nearest(name, known)).toBeUndefined()
  })

  it("gives up on a very long name at once", () => {
    expect(nearest("t".repeat(1_000_000), known)).toBeUndefined()
  })

  it("prefers the smaller difference, and the first of two equal ones", () => {
    expect(nearest("cart", ["card", "cart1", "cart"])).toBe("cart")
    expect(nearest("cart", ["card", "care"])).toBe("card")
    expect(nearest("cart", [])).toBeUndefined()
  })

  it("finds a name with one mistake among unlike ones", () => {
    const mistake = fc.record({ at: fc.nat(), letter: fc.constantFrom("", "x", "xo") })
    fc.assert(
      fc.property(mistake, ({ at, letter }) => {
        const name = "assistant"
        const place = at % name.length
        expect(nearest(name.slice(0, place) + letter + name.slice(place + 1), ["executor", name])).toBe(name)
      }),
    )
  })
})
