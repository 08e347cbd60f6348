export type { McpServerParams, StdioServerParams, StreamableHttpServerParams } from "./mcp-server-params.ts"
export type { McpCall, McpWorkbenchOptions } from "./mcp-workbench-options.ts"
export { McpWorkbench } from "./mcp-workbench.ts"
export type { ToolPins } from "./tool-pins.ts"
