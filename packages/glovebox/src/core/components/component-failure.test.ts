import { describe, expect, it } from "vitest"
import { z } from "zod"
import { failureOf } from "../failure-of.test-kit.ts"
import { ComponentRegistry, defineComponent } from "../index.ts"

const base = { provider: "example.Broken", type: "tool", config: z.object({}) }

describe("a component that cannot be made", () => {
  it("is named, with what its factory threw as the cause", () => {
    const boom = new Error("no such file")
    const registry = new ComponentRegistry([
      defineComponent({
        ...base,
        create: () => {
          throw boom
        },
      }),
    ])
    const load = (): unknown => registry.load({ provider: "example.Broken", config: {} })
    expect(failureOf(load)).toBe(
      "COMPONENT_INVALID: Component example.Broken could not be made: no such file",
    )
    expect(load).toThrow(expect.objectContaining({ cause: boom }))
  })

  it("leaves the error of a component inside it as it is", () => {
    const registry = new ComponentRegistry([
      defineComponent({
        ...base,
        provider: "example.Outer",
        create: (_config, loader) => loader.load({ provider: "x", config: {} }),
      }),
    ])
    expect(failureOf(() => registry.load({ provider: "example.Outer", config: {} }))).toMatch(
      /^COMPONENT_UNKNOWN: .*"x"/,
    )
  })

  it("is refused when it is defined without a factory", () => {
    expect(failureOf(() => defineComponent({ ...base, create: undefined as never }))).toMatch(
      /^COMPONENT_INVALID: .*create/,
    )
  })
})
