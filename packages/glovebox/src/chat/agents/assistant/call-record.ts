import type { FunctionCall, FunctionExecutionResult, Image, UserMessage } from "../../../models/index.ts"
import { formatTemplate } from "../../messages/index.ts"
import type { SummarizeCall } from "./assistant-options.ts"

/** A call and what came of it. */
export interface CallRecord {
  readonly call: FunctionCall
  readonly result: FunctionExecutionResult
  readonly images: readonly Image[]
}

/** The record of a call that has no answer of its own. */
export function withoutAnswer(call: FunctionCall, why: string): CallRecord {
  const { id: callId, name } = call
  return { call, result: { callId, name, content: why, isError: true }, images: [] }
}

/** A line for each call. */
export function summarizeCalls(records: readonly CallRecord[], format: string | SummarizeCall): string {
  const line = typeof format === "string" ? fromTemplate(format) : format
  return records.map(({ call, result }) => line(call, result)).join("\n")
}

function fromTemplate(template: string): SummarizeCall {
  return ({ name, arguments: args }, { content, isError = false }) =>
    formatTemplate(template, {
      toolName: name,
      arguments: args,
      result: content,
      isError,
      // AutoGen's names, which saved agents have in their templates.
      tool_name: name,
      is_error: isError,
    })
}

/** The images of results, which are text themselves, as a message that follows them. */
export function imagesMessage(records: readonly CallRecord[]): UserMessage | undefined {
  const content = records.flatMap(({ call, images }) =>
    images.length === 0 ? [] : [`Images in the result of ${call.name} (call ${call.id}):`, ...images],
  )
  return content.length === 0 ? undefined : { type: "UserMessage", content, source: "tools" }
}
