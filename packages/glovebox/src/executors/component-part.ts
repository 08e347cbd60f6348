import { type ComponentPart, componentPart } from "../core/index.ts"
import type { CodeExecutor } from "./code-executor.ts"

/** A code executor inside another component's data. */
export const executorPart: ComponentPart<CodeExecutor> = componentPart("code executor", [
  "executeCodeBlocks",
  "stream",
  "stop",
])
