import { type ErrorCode, GloveboxError } from "../../../core/index.ts"
import { asRecordedAs } from "../../../governance/effects/recorded-approve.ts"
import { abortable } from "../../../internal/abortable.ts"
import { errorMessage } from "../../../internal/error-message.ts"
import type { FunctionCall } from "../../../models/index.ts"
import {
  type Approve,
  type CallToolOptions,
  type ToolChunk,
  type ToolResult,
  type Workbench,
  executeFunctionCall,
  toolResultText,
} from "../../../tools/index.ts"
import { UNRECORDED } from "../../../tools/rule-errors.ts"
import { unknownToolText } from "../../../tools/tool-overrides.ts"
import { type ChatItem, ToolOutputEvent, isChatItem } from "../../messages/index.ts"
import { type CallRecord, withoutAnswer } from "./call-record.ts"
import type { ToolTable } from "./tool-table.ts"

export type Authorize = (tool: string, options: { readonly signal: AbortSignal }) => Promise<void>

export interface CallToolContext {
  /** The agent's name. */
  readonly source: string
  readonly table: ToolTable
  readonly approve: Approve | undefined
  /** Rejects where the agent may not call the tool, whether there is one or not. */
  readonly authorize: Authorize | undefined
  readonly signal: AbortSignal
  /** Told when leave is asked for, and when there is an answer. */
  readonly onAsk: (call: FunctionCall) => void
  readonly onBegin: (call: FunctionCall) => void
  /** Takes what is told meanwhile; waits while nobody reads it. */
  readonly tell: (item: ChatItem) => Promise<void>
}

// The tool's owner chose that these end the run, or nobody may go on without being asked or recorded.
const FATAL: readonly ErrorCode[] = [
  "APPROVAL_PENDING",
  ...UNRECORDED,
  "MCP_SERVER_FAILED",
  "TOOL_APPROVAL_REQUIRED",
  "TOOL_DEFINITION_CHANGED",
  "TOOL_FAILED",
]

/** Does one call. Whatever goes wrong is an answer that the model can act on, unless it is fatal. */
export async function callTool(call: FunctionCall, context: CallToolContext): Promise<CallRecord> {
  const { table, approve, authorize, signal } = context
  // One that does not look at its signal must not begin.
  signal.throwIfAborted()
  const owner = table.owners.get(call.name)
  const streaming = owner && {
    callTool: async (name: string, args?: unknown, options?: CallToolOptions): Promise<ToolResult> =>
      readStream(owner.callToolStream(name, args, options), call, context),
  }
  try {
    if (!streaming) {
      // One that it may not call is not listed; that it tried is written down.
      await authorize?.(call.name, { signal })
      const known = table.schemas.map(({ name }) => name)
      return withoutAnswer(call, unknownToolText(call.name, known))
    }
    const asked: Approve | undefined =
      approve &&
      asRecordedAs(approve, async (request) => {
        context.onAsk(call)
        const decision = await approve(request)
        context.onBegin(call)
        return decision
      })
    const { answer, result } = await executeFunctionCall(streaming, call, { approve: asked, signal })
    const images = result.result.flatMap((part) => (part.type === "ImageResultContent" ? [part.content] : []))
    return { call, result: answer, images }
  } catch (error) {
    signal.throwIfAborted()
    if (FATAL.some((code) => GloveboxError.is(error, code))) throw error
    // It says itself what it is about, and not to try again.
    if (GloveboxError.is(error, "ACCESS_DENIED")) return withoutAnswer(call, errorMessage(error))
    if (GloveboxError.is(error, "APPROVAL_DENIED")) {
      return withoutAnswer(call, `${errorMessage(error)} Do not try it again.`)
    }
    return withoutAnswer(call, `The tool ${call.name} failed: ${errorMessage(error)}`)
  }
}

async function readStream(
  stream: ReturnType<Workbench["callToolStream"]>,
  call: FunctionCall,
  { source, signal, tell }: CallToolContext,
): Promise<ToolResult> {
  let isDone = false
  try {
    for (;;) {
      const next = await abortable(stream.next(), signal)
      isDone = next.done === true
      if (next.done === true) return next.value
      if (next.value.type === "ToolChunk") await abortable(tell(toItem(next.value, call, source)), signal)
    }
  } finally {
    // Not waited for: it may hang in the very wait that was ended.
    if (!isDone) stream.return(undefined as never).catch(() => {})
  }
}

// Of an agent behind the tool one sees what it says and does, as it is.
function toItem({ message, content }: ToolChunk, { id, name }: FunctionCall, source: string): ChatItem {
  if (isChatItem(message)) return message
  return ToolOutputEvent({ source, callId: id, name, content: toolResultText({ result: [content] }) })
}
