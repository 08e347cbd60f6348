import { describe, expect, it } from "vitest"
import { z } from "zod"
import { failureOf } from "../failure-of.test-kit.ts"
import {
  type Component,
  type ComponentModel,
  ComponentRegistry,
  componentPart,
  defineComponent,
} from "../index.ts"

interface Lamp {
  light(): string
  fade(): void
}

const lampPart = componentPart<Lamp>("lamp", ["light", "fade"])

class Candle implements Lamp, Component {
  light(): string {
    return "dim"
  }
  fade(): void {}
  toComponent(): ComponentModel {
    return candle.dump({})
  }
}

const candle = defineComponent({
  provider: "example.Candle",
  type: "lamp",
  config: z.object({}),
  create: () => new Candle(),
})
const room = defineComponent({
  provider: "example.Room",
  type: "room",
  config: z.object({ lamp: z.unknown() }),
  create: ({ lamp }, loader) => ({ lamp: lampPart.load(lamp, loader) }),
})
const stone = defineComponent({
  provider: "example.Stone",
  type: "lamp",
  config: z.object({}),
  create: () => ({ light: "none" }),
})
const registry = new ComponentRegistry([candle, room, stone])

describe("componentPart", () => {
  it("writes what is inside, and makes it again", () => {
    const config = { lamp: lampPart.dump(new Candle(), "lamp") }
    const made = registry.load({ provider: "example.Room", config }) as { lamp: Lamp }
    expect(made.lamp.light()).toBe("dim")
  })

  it("names the option of what cannot be written down", () => {
    const lamp: Lamp = { light: () => "bright", fade: () => {} }
    expect(failureOf(() => lampPart.dump(lamp, "modelClient"))).toMatch(
      /^COMPONENT_INVALID: modelClient is a lamp .* toComponent/,
    )
  })

  it("refuses what is of another kind, whatever it is called", () => {
    for (const provider of ["example.Stone", "example.Room"]) {
      const inner = { provider, config: { lamp: { provider: "example.Candle", config: {} } } }
      expect(failureOf(() => registry.load({ provider: "example.Room", config: { lamp: inner } }))).toBe(
        `COMPONENT_INVALID: Component "${provider}" is no lamp, which is needed here.`,
      )
    }
    expect(failureOf(() => registry.load({ provider: "example.Room", config: { lamp: 7 } }))).toMatch(
      /^COMPONENT_INVALID: This is not a component/,
    )
  })
})
