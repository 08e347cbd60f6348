import { type ComponentDefinition, ComponentRegistry } from "../core/index.ts"
import { LocalCommandLineCodeExecutor, localExecutorComponent } from "../executors/local/index.ts"
import { memoryComponents } from "../memory/index.ts"
import { codeExecutionToolComponent } from "../tools/code-execution/index.ts"
import { autogenHttpToolComponent, httpToolComponent } from "../tools/http/index.ts"
import { type Tool, toolComponent, toolComponents } from "../tools/index.ts"
import { type McpComponentOptions, mcpWorkbenchComponent } from "../tools/mcp/index.ts"
import { chatComponents } from "./chat-components.ts"
import { executorComponents } from "./executor-components.ts"
import { modelComponents } from "./model-components.ts"

export interface DefaultRegistryOptions {
  /** The program's own tools, which data has by their names. @default [] */
  readonly tools?: readonly Tool[] | undefined
  /** The program's own components. @default [] */
  readonly components?: readonly ComponentDefinition<never>[] | undefined
  /** Which MCP servers data may name. @default those with an address; none that is started */
  readonly mcp?: McpComponentOptions | undefined
  /** Whether data may have an executor that runs code on this machine itself. @default false */
  readonly dangerouslyRunOnHost?: boolean | undefined
}

/**
 * A registry with everything that Glovebox can make from data.
 *
 * @example
 * const team = defaultRegistry({ tools: [weather] }).load(JSON.parse(text), RoundRobinGroupChat)
 */
export function defaultRegistry(options: DefaultRegistryOptions = {}): ComponentRegistry {
  const { tools = [], components = [], mcp = {}, dangerouslyRunOnHost } = options
  return new ComponentRegistry([
    ...chatComponents,
    ...modelComponents,
    ...memoryComponents,
    ...toolComponents,
    httpToolComponent,
    autogenHttpToolComponent,
    codeExecutionToolComponent,
    mcpWorkbenchComponent(mcp),
    ...executorComponents,
    dangerouslyRunOnHost === true
      ? localExecutorComponent({ dangerouslyRunOnHost })
      : LocalCommandLineCodeExecutor.definition,
    ...tools.map(toolComponent),
    ...components,
  ])
}
