import { GloveboxError } from "../../../core/index.ts"
import { abortable } from "../../../internal/abortable.ts"
import type { ToolSchema } from "../../../models/index.ts"
import type { Workbench } from "../../../tools/index.ts"
import { handoffSchema } from "../handoff.ts"
import type { AssistantSettings } from "./read-assistant-options.ts"

/** What the model may call now, and who does it. */
export interface ToolTable {
  readonly schemas: readonly ToolSchema[]
  readonly owners: ReadonlyMap<string, Workbench>
}

export const NO_TOOLS: ToolTable = { schemas: [], owners: new Map() }

/** Lists all tools; TOOL_INVALID when two have one name, because nobody knew which of them a call means. */
export async function listTools(
  { name, tools, toolbox, workbenches, handoffs }: AssistantSettings,
  signal: AbortSignal,
): Promise<ToolTable> {
  if (tools.length + workbenches.length + handoffs.size === 0) return NO_TOOLS
  const all = [toolbox, ...workbenches]
  const listed = await Promise.all(all.map((each) => abortable(each.listTools({ signal }), signal)))
  const schemas: ToolSchema[] = []
  const owners = new Map<string, Workbench>()
  for (const [index, owner] of all.entries()) {
    for (const schema of listed[index] ?? []) {
      if (owners.has(schema.name) || handoffs.has(schema.name)) {
        throw new GloveboxError(
          "TOOL_INVALID",
          `${name} has two tools that are called ${schema.name}, one of them in a workbench. Give one another name by the workbench's overrides.`,
        )
      }
      schemas.push(schema)
      owners.set(schema.name, owner)
    }
  }
  schemas.push(...[...handoffs.values()].map(handoffSchema))
  return { schemas, owners }
}
