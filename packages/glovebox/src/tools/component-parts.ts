import { type ComponentPart, componentPart } from "../core/index.ts"
import type { Tool } from "./tool.ts"
import type { Workbench } from "./workbench.ts"

/** A tool inside another component's data. */
export const toolPart: ComponentPart<Tool> = componentPart("tool", ["run", "stream", "needsApproval"])

/** A workbench inside another component's data. */
export const workbenchPart: ComponentPart<Workbench> = componentPart("workbench", [
  "listTools",
  "callTool",
  "callToolStream",
])
