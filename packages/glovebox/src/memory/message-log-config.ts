import { z } from "zod"
import {
  type LLMMessage,
  type LLMMessageConfig,
  llmMessageConfigSchema,
  llmMessageFromConfig,
  llmMessageToConfig,
} from "../models/index.ts"

/** What the data of every context has, in AutoGen's names. */
export const messageLogConfigShape = { initial_messages: z.array(llmMessageConfigSchema).nullish() }

export function messageLogOptions({
  initial_messages: initial,
}: {
  readonly initial_messages?: readonly LLMMessageConfig[] | null | undefined
}): { readonly initialMessages: readonly LLMMessage[] | undefined } {
  return { initialMessages: initial?.map(llmMessageFromConfig) }
}

export function messageLogConfig(initial: readonly LLMMessage[]): {
  readonly initial_messages?: LLMMessageConfig[]
} {
  return initial.length === 0 ? {} : { initial_messages: initial.map(llmMessageToConfig) }
}
