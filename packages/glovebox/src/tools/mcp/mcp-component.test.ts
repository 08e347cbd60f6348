import { afterEach, describe, expect, it, vi } from "vitest"
import { configOf, roundTrip } from "../../core/components/round-trip.test-kit.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { ComponentRegistry } from "../../core/index.ts"
import {
  type McpServerParams,
  McpWorkbench,
  type McpWorkbenchOptions,
  mcpWorkbenchComponent,
} from "./index.ts"

const pins = { echo: "0".repeat(64) }
const registry = new ComponentRegistry([McpWorkbench.definition])
const trusting = new ComponentRegistry([mcpWorkbenchComponent({ allowServer: () => true })])
const load = (server_params: unknown, more: object = {}, into = registry): unknown =>
  into.load({ provider: "glovebox.tools.McpWorkbench", config: { server_params, ...more } })

afterEach(() => vi.unstubAllEnvs())

describe("an MCP workbench in data", () => {
  it("is made again with its address, its pins and who is asked", () => {
    const made = roundTrip(
      registry,
      new McpWorkbench({
        server: { url: "https://mcp.example.com/mcp", headers: { "x-tenant": "a" } },
        overrides: { echo: { name: "say" } },
        pins,
        timeoutMs: 1_500,
        totalTimeoutMs: 2_000,
        startTimeoutMs: 3_000,
        errors: "fatal",
        approval: true,
        risk: "high",
      }),
    )
    expect(configOf(made)).toMatchObject({
      server_params: { type: "StreamableHttpServerParams", url: "https://mcp.example.com/mcp" },
      pins,
      timeout: 1.5,
      approval: true,
      risk: "high",
    })
  })

  it("has the pins of what it has seen, and not those of nothing", async () => {
    const workbench = new McpWorkbench({ server: { url: "https://mcp.example.com/mcp" } })
    expect(configOf(workbench)).not.toHaveProperty("pins")
    await workbench.loadState({ type: "McpWorkbenchState", pins })
    expect(configOf(roundTrip(registry, workbench))).toMatchObject({ pins })
  })

  it("has variables by their names, whose values are taken from the environment again", () => {
    vi.stubEnv("GLOVEBOX_TEST_TOKEN", "hush")
    const server = {
      command: "my-server",
      args: ["--all"],
      env: { GLOVEBOX_TEST_TOKEN: "hush" },
      cwd: "/srv",
    }
    const workbench = new McpWorkbench({ server })
    expect(configOf(workbench)).toEqual({
      server_params: {
        type: "StdioServerParams",
        command: "my-server",
        args: ["--all"],
        env_names: ["GLOVEBOX_TEST_TOKEN"],
        cwd: "/srv",
      },
    })
    const seen: McpServerParams[] = []
    const watching = new ComponentRegistry([
      mcpWorkbenchComponent({ allowServer: (params) => seen.push(params) > 0 }),
    ])
    roundTrip(watching, workbench)
    expect(seen).toEqual([server])
    vi.stubEnv("GLOVEBOX_TEST_TOKEN", undefined)
    expect(failureOf(() => trusting.load(JSON.parse(JSON.stringify(workbenchModel(server)))))).toMatch(
      /^COMPONENT_INVALID: .*GLOVEBOX_TEST_TOKEN.*not set/,
    )
  })

  it("does not start programs: the program decides on those", () => {
    const stdio = { type: "StdioServerParams", command: "sh", args: ["-c", "touch /tmp/x"] }
    expect(failureOf(() => load(stdio))).toMatch(/^COMPONENT_INVALID: .*starts sh.*allowServer/)
    expect(load(stdio, {}, trusting)).toBeInstanceOf(McpWorkbench)
    const picky = new ComponentRegistry([
      mcpWorkbenchComponent({ allowServer: (server) => "url" in server && server.url.startsWith("https:") }),
    ])
    const plain = { type: "StreamableHttpServerParams", url: "http://mcp.example.com" }
    expect(failureOf(() => load(plain, {}, picky))).toMatch(/^COMPONENT_INVALID: .*asks http:/)
  })

  it.each<[string, Partial<McpWorkbenchOptions>]>([
    ["approve", { approve: () => ({ approved: true }) }],
    ["approval", { approval: () => true }],
    ["errors", { errors: () => "fatal" }],
    ["Authorization", { server: { url: "https://x.example.com", headers: { Authorization: "Bearer x" } } }],
    ["api_key", { server: { url: "https://x.example.com?api_key=x" } }],
    ["user name", { server: { url: "https://me:x@x.example.com" } }],
    ["env.HOME", { server: { command: "my-server", env: { HOME: "elsewhere" } } }],
  ])("is refused with %s that data cannot have", (name, changes) => {
    const workbench = new McpWorkbench({ server: { url: "https://x.example.com" }, ...changes })
    const failure = failureOf(() => workbench.toComponent())
    expect(failure).toMatch(new RegExp(`^COMPONENT_INVALID: .*${name}`))
    expect(failure).not.toContain("elsewhere")
  })

  it("is refused with fields that it has not, such as misspelt pins", () => {
    const server = { type: "StreamableHttpServerParams", url: "https://x.example.com" }
    expect(failureOf(() => load(server, { pin: pins }))).toMatch(/^COMPONENT_INVALID: .*pin/)
  })

  it("is read as AutoGen wrote it", () => {
    const server_params = {
      type: "StreamableHttpServerParams",
      url: "https://x.example.com/mcp",
      headers: null,
      timeout: 30,
      sse_read_timeout: 300,
      terminate_on_close: true,
    }
    const provider = "autogen_ext.tools.mcp.McpWorkbench"
    const config = { server_params, tool_overrides: {} }
    expect(registry.load({ provider, component_type: "workbench", config })).toBeInstanceOf(McpWorkbench)
  })
})

function workbenchModel(server: { readonly command: string; readonly env: Record<string, string> }): unknown {
  return {
    provider: "glovebox.tools.McpWorkbench",
    config: {
      server_params: {
        type: "StdioServerParams",
        command: server.command,
        env_names: Object.keys(server.env),
      },
    },
  }
}
