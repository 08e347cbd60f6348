import { describe, expect, it } from "vitest"
import { z } from "zod"
import { configOf, roundTrip } from "../core/components/round-trip.test-kit.ts"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { ComponentRegistry } from "../core/index.ts"
import {
  StaticWorkbench,
  type Tool,
  functionToolComponent,
  tool,
  toolComponent,
  toolComponents,
} from "./index.ts"

const weather = tool({
  name: "weather",
  description: "Weather in a city",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `rain in ${city}`,
})
const clock = tool({ name: "clock", description: "The time", execute: () => "noon" })

const registry = (...tools: Tool[]): ComponentRegistry =>
  new ComponentRegistry([...toolComponents, ...tools.map(toolComponent)])

describe("a function tool in data", () => {
  it("is its name, and is the very tool of the program again", () => {
    expect(configOf(weather)).toEqual({ name: "weather" })
    expect(roundTrip(registry(weather, clock), weather)).toBe(weather)
  })

  it("is read as AutoGen wrote it, and the source text in it is not", () => {
    const config = {
      source_code: "def clock():\n    import os\n    os.abort()",
      name: "clock",
      description: "?",
      global_imports: ["os"],
      has_cancellation_support: false,
    }
    const model = { provider: "autogen_core.tools.FunctionTool", component_type: "tool", config }
    expect(registry(weather, clock).load(model)).toBe(clock)
    expect(failureOf(() => registry(weather).load(model))).toMatch(/^COMPONENT_UNKNOWN: No tool "clock"/)
  })

  it("that the program has not is refused with what it has", () => {
    const model = { provider: functionToolComponent.provider, config: { name: "wether" } }
    expect(failureOf(() => registry(weather, clock).load(model))).toBe(
      'COMPONENT_UNKNOWN: No tool "wether" is registered. Did you mean "weather"? Known: weather, clock. ' +
        "Functions are not made from data: add yours with registry.add(toolComponent(tool)).",
    )
    expect(failureOf(() => registry().load(model))).toMatch(/Known: none\./)
  })

  it("is registered once under a name", () => {
    const other = tool({ name: "clock", description: "Another", execute: () => "night" })
    expect(failureOf(() => registry(clock, other))).toMatch(/^COMPONENT_ALREADY_REGISTERED/)
  })

  it.each(["__proto__", "constructor", "../weather", "weather/", ""])("is not found as %j", (name) => {
    expect(
      failureOf(() => registry(weather).load({ provider: functionToolComponent.provider, config: { name } })),
    ).toMatch(/^COMPONENT_UNKNOWN/)
  })
})

describe("a static workbench in data", () => {
  it("has its tools under the names that models see", async () => {
    const overrides = { weather: { name: "sky", description: "Look up" } }
    const made = roundTrip(registry(weather, clock), new StaticWorkbench([weather, clock], { overrides }))
    expect((await made.listTools()).map(({ name, description }) => [name, description])).toEqual([
      ["sky", "Look up"],
      ["clock", "The time"],
    ])
    expect(await made.callTool("sky", { city: "Rome" })).toMatchObject({ isError: false })
  })

  it.each(["autogen_core.tools.StaticWorkbench", "autogen_core.tools.StaticStreamWorkbench"])(
    "is read as %s",
    async (provider) => {
      const config = {
        tools: [clock.toComponent()],
        tool_overrides: { clock: { name: "now", description: null } },
      }
      const made = registry(clock).load({ provider, component_type: "workbench", config }, StaticWorkbench)
      expect((await made.listTools()).map(({ name }) => name)).toEqual(["now"])
    },
  )

  it("that asks for approvals is refused: it would ask nobody any more", () => {
    const workbench = new StaticWorkbench([clock], { approve: () => ({ approved: true }) })
    expect(failureOf(() => workbench.toComponent())).toMatch(/^COMPONENT_INVALID: .*approve/)
    const config = { tools: [], approve: true }
    expect(
      failureOf(() => registry().load({ provider: StaticWorkbench.definition.provider, config })),
    ).toMatch(/^COMPONENT_INVALID/)
  })

  it("names a tool that cannot be written down, and what is no tool", () => {
    const bare = { ...clock, toComponent: undefined }
    expect(failureOf(() => new StaticWorkbench([bare]).toComponent())).toMatch(
      /^COMPONENT_INVALID: Tool clock /,
    )
    const config = { tools: [new StaticWorkbench([]).toComponent()] }
    expect(
      failureOf(() => registry().load({ provider: StaticWorkbench.definition.provider, config })),
    ).toMatch(/is no tool/)
  })
})
