import type { CreateOptions } from "../chat-completion-client.ts"
import type { CreateResult } from "../create-result.ts"
import type { FunctionCall, LLMMessage } from "../messages.ts"

/** An answer: a text, calls, a whole result or a part of one, an error to throw, or a function that gives any of them. */
export type ReplayResponse =
  | string
  | readonly FunctionCall[]
  | Partial<CreateResult>
  | Error
  | ((messages: readonly LLMMessage[], options: CreateOptions) => ReplayResponse | Promise<ReplayResponse>)

/** The result that an answer stands for. */
export async function toResult(
  response: ReplayResponse,
  messages: readonly LLMMessage[],
  options: CreateOptions,
  tokens: { readonly promptTokens: number; readonly countText: (text: string) => number },
): Promise<CreateResult> {
  if (typeof response === "function") {
    return toResult(await response(messages, options), messages, options, tokens)
  }
  if (response instanceof Error) throw response
  const isContent = typeof response === "string" || Array.isArray(response)
  const given = (isContent ? { content: response } : response) as Partial<CreateResult>
  const { content = "" } = given
  const said = typeof content === "string" ? content : JSON.stringify(content)
  return {
    finishReason: typeof content === "string" ? "stop" : "function_calls",
    content,
    usage: { promptTokens: tokens.promptTokens, completionTokens: tokens.countText(said) },
    cached: false,
    ...given,
  }
}
