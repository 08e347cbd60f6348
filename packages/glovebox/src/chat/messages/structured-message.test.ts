import { describe, expect, it } from "vitest"
import type { JsonValue } from "../../core/index.ts"
import { StructuredMessage } from "./index.ts"

const circle: Record<string, unknown> = {}
circle["self"] = circle

describe("StructuredMessage", () => {
  it.each([
    ["nothing", undefined],
    ["a function", () => 1],
    ["a Map", new Map([["a", 1]])],
    ["something that JSON makes null", { degrees: Number.NaN }],
    ["something that holds itself", circle],
  ])("is not made of %s", (_what, content) => {
    expect(() => StructuredMessage({ source: "a", content: content as JsonValue })).toThrow(
      /Not a valid StructuredMessage: content/,
    )
  })

  it("cannot be changed by whoever has what it was made of, or hears it", () => {
    const content = { city: { name: "Oslo" } }
    const message = StructuredMessage({ source: "a", content })
    content.city.name = "Rome"
    expect(message.content).toEqual({ city: { name: "Oslo" } })
    const heard = message.content as typeof content
    expect(() => {
      heard.city.name = "Rome"
    }).toThrow(TypeError)
  })
})
