import { z } from "zod"
import { type Image, imageSchema } from "./image.ts"

/** A model's wish to call a tool. */
export interface FunctionCall {
  readonly id: string
  readonly name: string
  /** JSON text as the model wrote it; it may be invalid. */
  readonly arguments: string
}

/** What a tool answered to one call. */
export interface FunctionExecutionResult {
  readonly callId: string
  readonly name: string
  readonly content: string
  /** @default false */
  readonly isError?: boolean | undefined
}

/** Instructions to the model. */
export interface SystemMessage {
  readonly type: "SystemMessage"
  readonly content: string
}

/** What a person, or another agent, says. */
export interface UserMessage {
  readonly type: "UserMessage"
  readonly content: string | readonly (string | Image)[]
  /** The name of whoever says it. */
  readonly source: string
  /** Where the words come from, when a program wrote them and nobody vouches for them. */
  readonly untrusted?: string | undefined
}

/** What the model said before. */
export interface AssistantMessage {
  readonly type: "AssistantMessage"
  readonly content: string | readonly FunctionCall[]
  /** Its reasoning, or the text it wrote beside its calls. */
  readonly thought?: string | undefined
  /** What the provider signed its reasoning with, as the result had it; given back unchanged. */
  readonly thoughtSignature?: string | undefined
  readonly source: string
}

/** The answers to the calls of the assistant message before it. */
export interface FunctionExecutionResultMessage {
  readonly type: "FunctionExecutionResultMessage"
  readonly content: readonly FunctionExecutionResult[]
}

export type LLMMessage = SystemMessage | UserMessage | AssistantMessage | FunctionExecutionResultMessage

export const functionCallSchema: z.ZodType<FunctionCall> = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
})

const functionExecutionResultSchema = z.object({
  callId: z.string(),
  name: z.string(),
  content: z.string(),
  isError: z.boolean().optional(),
})

/** Reads messages that come from outside: a file, a saved state, another process. */
export const llmMessageSchema: z.ZodType<LLMMessage> = z.discriminatedUnion("type", [
  z.object({ type: z.literal("SystemMessage"), content: z.string() }),
  z.object({
    type: z.literal("UserMessage"),
    content: z.union([z.string(), z.array(z.union([z.string(), imageSchema]))]),
    source: z.string(),
    untrusted: z.string().optional(),
  }),
  z.object({
    type: z.literal("AssistantMessage"),
    content: z.union([z.string(), z.array(functionCallSchema).min(1)]),
    thought: z.string().optional(),
    thoughtSignature: z.string().optional(),
    source: z.string(),
  }),
  z.object({
    type: z.literal("FunctionExecutionResultMessage"),
    content: z.array(functionExecutionResultSchema),
  }),
])
