import { errorMessage } from "../internal/error-message.ts"
import type { FunctionCall, FunctionExecutionResult } from "../models/index.ts"
import { type ToolResult, errorResult, toolResultText } from "./tool-result.ts"
import type { CallToolOptions, Workbench } from "./workbench.ts"

/** The answer to a model's call, and the result behind it with its images. */
export interface ExecutedCall {
  readonly answer: FunctionExecutionResult
  readonly result: ToolResult
}

/** Does what a model asks for; arguments that are no JSON are an answer that it can correct. */
export async function executeFunctionCall(
  workbench: Pick<Workbench, "callTool">,
  call: FunctionCall,
  options: Omit<CallToolOptions, "callId"> = {},
): Promise<ExecutedCall> {
  const parsed = parseArguments(call)
  const result =
    "refusal" in parsed
      ? parsed.refusal
      : await workbench.callTool(call.name, parsed.value, { ...options, callId: call.id })
  const { isError } = result
  return { answer: { callId: call.id, name: call.name, content: toolResultText(result), isError }, result }
}

function parseArguments({
  name,
  arguments: text,
}: FunctionCall): { readonly value: unknown } | { readonly refusal: ToolResult } {
  // Some models send nothing where there are no arguments.
  if (text.trim() === "") return { value: {} }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    const problem = `The arguments of ${name} are no JSON: ${errorMessage(error)}. Write them as one JSON object and call it again.`
    return { refusal: errorResult(name, problem) }
  }
}
