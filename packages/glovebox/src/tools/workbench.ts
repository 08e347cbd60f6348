import type { JsonObject } from "../core/index.ts"
import type { ToolSchema } from "../models/index.ts"
import type { Approve } from "./approval.ts"
import type { CallGuard } from "./call-guard.ts"
import type { ToolGovernor } from "./tool-governor.ts"
import type { ToolResult, ToolStreamItem } from "./tool-result.ts"

export interface CallToolOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** The id that the model gave the call. */
  readonly callId?: string | undefined
  /** Asked when the tool needs an approval. @default the workbench's own */
  readonly approve?: Approve | undefined
  /** The rules of whoever calls it, for tools that do more than they answer. */
  readonly governor?: ToolGovernor | undefined
  /** Stands before the call. A workbench that does not pass it on must not say that it does. */
  readonly guard?: CallGuard | undefined
}

/** Tools that belong together and share what they need; which they are may change from one listing to the next. */
export interface Workbench extends AsyncDisposable {
  /** Makes everything ready; the first use does it too. */
  start(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
  /** Ends what is running. It can be started again. */
  stop(): Promise<void>
  /** Forgets what calls have left behind. */
  reset(): Promise<void>
  listTools(options?: { readonly signal?: AbortSignal | undefined }): Promise<readonly ToolSchema[]>
  /** Calls a tool by the name it is listed under. No such tool, or one that fails, is a result with `isError`. */
  callTool(name: string, args?: unknown, options?: CallToolOptions): Promise<ToolResult>
  /** The same, with what the tool tells before; the result is the last item, and leaving the loop ends the call. */
  callToolStream(
    name: string,
    args?: unknown,
    options?: CallToolOptions,
  ): AsyncGenerator<ToolStreamItem, ToolResult, undefined>
  /** A call that waited for approvals will not come again. */
  forgetCall?(name: string, callId: string): void
  /** Whether a call of this tool asks the `guard` before anything is done. @default false: whoever has one asks it first */
  guardsCall?(name: string): boolean
  saveState(): Promise<JsonObject>
  loadState(state: JsonObject): Promise<void>
}

/** Another name or description for a tool, as models see it. */
export interface ToolOverride {
  readonly name?: string | undefined
  readonly description?: string | undefined
}
