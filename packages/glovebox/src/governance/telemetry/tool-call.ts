import type { Attributes } from "@opentelemetry/api"
import { type ToolResult, toolResultText } from "../../tools/tool-result.ts"
import { AGENT_NAME, ERROR_TYPE, OPERATION_NAME, TOOL_NAME, TOOL_TYPE } from "./names.ts"
import type { Observed } from "./observed.ts"
import type { Subject } from "./observer.ts"
import { plainName } from "./plain-name.ts"

export interface ToolCallInfo {
  readonly agent: string
  /** The name that was called. */
  readonly tool: string
  readonly callId?: string | undefined
  readonly risk?: string | undefined
  /** Kept only where content is captured. */
  readonly arguments?: unknown
  /** @default the span that is active */
  readonly parent?: Observed<unknown> | undefined
}

export function toolCall(info: ToolCallInfo): Subject<ToolResult> {
  const tool = plainName(info.tool)
  const told: Attributes = { [TOOL_NAME]: tool, [TOOL_TYPE]: "function", [AGENT_NAME]: info.agent }
  return {
    name: `execute_tool ${tool}`,
    attributes: () => ({
      ...told,
      [OPERATION_NAME]: "execute_tool",
      "gen_ai.tool.call.id": info.callId === undefined ? undefined : plainName(info.callId),
      "glovebox.tool.risk": info.risk,
    }),
    content: (redact) =>
      info.arguments === undefined ? {} : { "gen_ai.tool.call.arguments": redact(asText(info.arguments)) },
    outcome: () => ({}),
    outcomeContent: (result, redact) => ({ "gen_ai.tool.call.result": redact(toolResultText(result)) }),
    // What it says of the failure is content, as any result.
    failure: ({ isError }) => (isError ? "tool_error" : undefined),
    measure: ({ toolCalls, toolDuration }, { seconds, errorType }) => {
      const measured = errorType === undefined ? told : { ...told, [ERROR_TYPE]: errorType }
      toolCalls.add(1, measured)
      toolDuration.record(seconds, measured)
    },
  }
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "")
}
