import { describe, expect, it } from "vitest"
import { z } from "zod"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { defineComponent } from "../core/index.ts"
import { tool } from "../tools/index.ts"
import { McpWorkbench } from "../tools/mcp/index.ts"
import { defaultRegistry } from "./index.ts"

const registry = defaultRegistry()

describe("defaultRegistry", () => {
  it("has the program's own tools and components", () => {
    const weather = tool({ name: "weather", description: "Weather", execute: () => "rain" })
    const own = defineComponent({ provider: "my.Thing", type: "x", config: z.object({}), create: () => 7 })
    const mine = defaultRegistry({ tools: [weather], components: [own] })
    expect(mine.load(weather.toComponent())).toBe(weather)
    expect(mine.load({ provider: "my.Thing", config: {} })).toBe(7)
  })

  it("starts no MCP server unless the program lets it", () => {
    const model = new McpWorkbench({ server: { command: "my-server" } }).toComponent()
    expect(failureOf(() => registry.load(model))).toMatch(/^COMPONENT_INVALID: .*starts my-server/)
    const allowServer = (): boolean => true
    expect(defaultRegistry({ mcp: { allowServer } }).load(model)).toBeInstanceOf(McpWorkbench)
  })

  it("tells what each configuration looks like", () => {
    for (const provider of registry.providers) {
      expect(registry.configSchema(provider), provider).toMatchObject({ type: "object" })
    }
  })

  it("knows nothing of paths", () => {
    for (const provider of [
      "../executors/local/index.ts",
      "node:child_process",
      "glovebox/executors/local",
    ]) {
      expect(failureOf(() => registry.load({ provider, config: {} }))).toMatch(/^COMPONENT_UNKNOWN/)
    }
  })
})
