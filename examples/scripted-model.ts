import type { LLMMessage } from "glovebox/models"
import { ReplayChatCompletionClient, type ReplayResponse } from "glovebox/models/replay"

/** Plays the model of an example where there is no key; with one it is undefined, and the example's own model answers. */
export function scriptedModel(answers: readonly ReplayResponse[]): ReplayChatCompletionClient | undefined {
  if (process.env["OPENAI_API_KEY"]) return undefined
  console.error("(No OPENAI_API_KEY is set: a scripted model answers. The tools and the code are real.)")
  return new ReplayChatCompletionClient(answers)
}

let calls = 0

/** An answer that calls a tool. */
export function callTool(name: string, args: object): ReplayResponse {
  calls += 1
  return [{ id: `call_${calls}`, name, arguments: JSON.stringify(args) }]
}

/** An answer made of the result of the tool that was called. */
export function fromResult(answer: (result: string) => string): ReplayResponse {
  return (messages) => answer(textOf(messages.at(-1)))
}

/** An answer made of what the code of a CodeExecutorAgent printed: it is asked for words after that. */
export function fromOutput(answer: (output: string) => string): ReplayResponse {
  return (messages) => answer(textOf(messages.at(-2)))
}

function textOf(message: LLMMessage | undefined): string {
  if (message?.type === "FunctionExecutionResultMessage") return message.content.at(-1)?.content.trim() ?? ""
  return typeof message?.content === "string" ? message.content.trim() : ""
}
