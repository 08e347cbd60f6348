import type { CodeExecutor } from "../executors/index.ts"

/** Rules that whoever calls a tool is bound by, as far as a tool has to know: what it runs, it runs behind them. */
export interface ToolGovernor {
  /** The same executor, behind the rules. */
  executor(executor: CodeExecutor): CodeExecutor
}
