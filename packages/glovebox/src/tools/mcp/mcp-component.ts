import { z } from "zod"
import { type ComponentDefinition, GloveboxError, defineComponent } from "../../core/index.ts"
import { milliseconds, seconds } from "../../models/seconds.ts"
import { choicesConfigShape, choicesFromConfig, choicesToConfig, refuseFunctions } from "../choices-config.ts"
import { overridesConfigSchema, overridesFromConfig } from "../tool-overrides-config.ts"
import { serverConfigSchema, serverFromConfig, serverToConfig } from "./mcp-server-config.ts"
import type { McpServerParams } from "./mcp-server-params.ts"
import type { McpWorkbenchOptions, ReadMcpOptions } from "./mcp-workbench-options.ts"
import type { McpWorkbench } from "./mcp-workbench.ts"
import type { ToolPins } from "./tool-pins.ts"

export interface McpComponentOptions {
  /** Whether a server that data names may be used. @default one with an address; none that is started */
  readonly allowServer?: ((server: McpServerParams) => boolean) | undefined
}

const configSchema = z.strictObject({
  server_params: serverConfigSchema,
  tool_overrides: overridesConfigSchema.nullish(),
  pins: z.record(z.string(), z.string()).nullish(),
  /** Seconds. */
  timeout: z.number().nullish(),
  total_timeout: z.number().nullish(),
  start_timeout: z.number().nullish(),
  ...choicesConfigShape,
})

type Config = z.output<typeof configSchema>
export type McpWorkbenchDefinition = ComponentDefinition<z.input<typeof configSchema>, McpWorkbench>

/** How an MCP workbench is made from a component's data, also from data that AutoGen wrote. */
export function defineMcpWorkbench(
  make: (options: McpWorkbenchOptions) => McpWorkbench,
  { allowServer = hasAddress }: McpComponentOptions = {},
): McpWorkbenchDefinition {
  return defineComponent({
    provider: "glovebox.tools.McpWorkbench",
    aliases: ["autogen_ext.tools.mcp.McpWorkbench"],
    type: "workbench",
    config: configSchema,
    create: (config) => make(optionsFromConfig(config, allowServer)),
  })
}

function optionsFromConfig(
  config: Config,
  allowServer: (server: McpServerParams) => boolean,
): McpWorkbenchOptions {
  const { server_params: params } = config
  const server = serverFromConfig(params)
  if (!allowServer(server)) {
    const what = "command" in server ? `starts ${server.command}` : `asks ${new URL(server.url).origin}`
    throw new GloveboxError(
      "COMPONENT_INVALID",
      `An MCP workbench in the data ${what}, and that is not for data to decide. Allow it with mcpWorkbenchComponent({ allowServer }).`,
    )
  }
  const ofAutogen = params.type === "StdioServerParams" ? params.read_timeout_seconds : undefined
  return {
    server,
    overrides: overridesFromConfig(config.tool_overrides),
    pins: config.pins ?? undefined,
    timeoutMs: milliseconds(config.timeout ?? ofAutogen),
    totalTimeoutMs: milliseconds(config.total_timeout),
    startTimeoutMs: milliseconds(config.start_timeout),
    ...choicesFromConfig(config),
  }
}

/** Everything but secrets and functions, which COMPONENT_INVALID names. */
export function configFromOptions(
  { server, overrides, given }: ReadMcpOptions,
  pins: ToolPins | undefined,
): z.input<typeof configSchema> {
  const what = "The MCP workbench"
  refuseFunctions(what, { approve: given.approve })
  return {
    server_params: serverToConfig(server),
    tool_overrides: Object.keys(overrides).length === 0 ? undefined : overrides,
    pins,
    timeout: seconds(given.timeoutMs),
    total_timeout: seconds(given.totalTimeoutMs),
    start_timeout: seconds(given.startTimeoutMs),
    ...choicesToConfig(what, given),
  }
}

// What an address can do, a server decides; what a command does is done with this process's rights.
function hasAddress(server: McpServerParams): boolean {
  return "url" in server
}
