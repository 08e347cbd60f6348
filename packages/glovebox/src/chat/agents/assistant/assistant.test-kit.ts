import type { FunctionCall, FunctionExecutionResult, LLMMessage } from "../../../models/index.ts"
import { ReplayChatCompletionClient, type ReplayResponse } from "../../../models/replay/index.ts"
import { type Tool, type ToolResult, type Workbench, textContent, tool } from "../../../tools/index.ts"
import type { ChatItem, ToolCallExecutionEvent } from "../../messages/index.ts"
import type { TaskResult } from "../../task/index.ts"
import { AssistantAgent, type AssistantAgentOptions } from "./index.ts"

let calls = 0

/** A wish to call a tool, with an id of its own. */
export function call(name: string, args: unknown = {}, id = `call-${(calls += 1)}`): FunctionCall {
  return { id, name, arguments: typeof args === "string" ? args : JSON.stringify(args) }
}

/** A tool that answers with these words, or with what the function gives. */
export function toolThat(name: string, answer: string | ((signal: AbortSignal) => unknown)): Tool {
  return tool({
    name,
    description: `Does ${name}`,
    execute: (_args, { signal }) => (typeof answer === "string" ? answer : answer(signal)),
  })
}

/** Waits for ever, whatever its signal says. */
export function forever(): Promise<never> {
  return new Promise<never>(() => {})
}

/** A workbench with one tool, done by hand as others would do theirs. */
export function workbenchOf(
  name: string,
  callToolStream: (signal: AbortSignal | undefined) => ReturnType<Workbench["callToolStream"]>,
  listTools: Workbench["listTools"] = async () => [{ name }],
): Workbench {
  return {
    start: async () => {},
    stop: async () => {},
    reset: async () => {},
    listTools,
    callTool: async () => resultOf(name, "unused"),
    callToolStream: (_name, _args, options) => callToolStream(options?.signal),
    saveState: async () => ({}),
    loadState: async () => {},
    [Symbol.asyncDispose]: async () => {},
  }
}

export function resultOf(name: string, text: string): ToolResult {
  return { type: "ToolResult", name, result: [textContent(text)], isError: false }
}

export function typesOf(items: readonly (ChatItem | TaskResult)[]): readonly string[] {
  return items.map(({ type }) => type)
}

export function lastMessage({ messages }: TaskResult): ChatItem | undefined {
  return messages.at(-1)
}

/** What the model was shown in its nth request, without the system message. */
export function shown(client: ReplayChatCompletionClient, request: number): readonly LLMMessage[] {
  const messages = client.createCalls[request]?.messages ?? []
  return messages.filter(({ type }) => type !== "SystemMessage")
}

/** The ids of calls that have no result, which no provider takes. */
export function openCalls(messages: readonly LLMMessage[]): readonly string[] {
  const answered = new Set(
    messages.flatMap((message) =>
      message.type === "FunctionExecutionResultMessage" ? message.content.map(({ callId }) => callId) : [],
    ),
  )
  return messages
    .flatMap((message) =>
      message.type === "AssistantMessage" && typeof message.content !== "string" ? message.content : [],
    )
    .map(({ id }) => id)
    .filter((id) => !answered.has(id))
}

/** An assistant whose model says this. */
export function agent(
  script: readonly ReplayResponse[],
  options: Omit<AssistantAgentOptions, "name" | "modelClient">,
): { assistant: AssistantAgent; modelClient: ReplayChatCompletionClient } {
  const modelClient = new ReplayChatCompletionClient(script)
  return { modelClient, assistant: new AssistantAgent({ name: "coder", modelClient, ...options }) }
}

/** What its tools answered. */
export function resultsOf({ messages }: TaskResult): readonly FunctionExecutionResult[] {
  return messages
    .filter((item): item is ToolCallExecutionEvent => item.type === "ToolCallExecutionEvent")
    .flatMap(({ content }) => content)
}
