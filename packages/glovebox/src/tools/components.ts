import type { ComponentDefinition } from "../core/index.ts"
import { StaticWorkbench } from "./static-workbench.ts"
import { functionToolComponent } from "./tool-component.ts"

/** What of the tools can be made from data with nothing but this folder; programs add their own by `toolComponent`. */
export const toolComponents: readonly ComponentDefinition<never>[] = [
  functionToolComponent,
  StaticWorkbench.definition,
]
