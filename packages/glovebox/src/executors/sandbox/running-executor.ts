import type { CodeResult } from "../code-result.ts"
import type { ExecutionEvent } from "../execution-event.ts"
import type { PlannedBlock } from "./plan-blocks.ts"

export interface ExecuteCall {
  readonly blocks: readonly PlannedBlock[]
  readonly signal: AbortSignal
  readonly onEvent: (event: ExecutionEvent) => void
  /** Filled in with the means to hold the output back. */
  readonly flow?: { pause: () => void; resume: () => void } | undefined
}

/** What an executor is between `start()` and `stop()`. */
export interface RunningExecutor {
  execute(call: ExecuteCall): Promise<CodeResult>
  /** Ends every run and everything that was made. */
  close(): Promise<void>
}
