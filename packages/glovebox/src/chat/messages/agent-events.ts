import { z } from "zod"
import type { MemoryContent } from "../../memory/index.ts"
import { functionCallSchema } from "../../models/index.ts"
import { codeRunSchema } from "./code-run.ts"
import { defineAgentEvent } from "./define-chat-message.ts"
import { functionResultSchema } from "./function-result-schema.ts"

/** A model wants tools called. */
export const ToolCallRequestEvent = defineAgentEvent(
  "ToolCallRequestEvent",
  { content: z.array(functionCallSchema).readonly() },
  { toText: ({ content }) => content.map((call) => `${call.name}(${call.arguments})`).join("\n") },
)
export type ToolCallRequestEvent = ReturnType<typeof ToolCallRequestEvent>

/** What they answered, in the order of the calls. */
export const ToolCallExecutionEvent = defineAgentEvent(
  "ToolCallExecutionEvent",
  { content: z.array(functionResultSchema).readonly() },
  { toText: ({ content }) => content.map((result) => result.content).join("\n") },
)
export type ToolCallExecutionEvent = ReturnType<typeof ToolCallExecutionEvent>

/** A piece of what a tool tells while it runs. */
export const ToolOutputEvent = defineAgentEvent(
  "ToolOutputEvent",
  { callId: z.string(), name: z.string(), content: z.string() },
  { toText: ({ content }) => content },
  "chunk",
)
export type ToolOutputEvent = ReturnType<typeof ToolOutputEvent>

/** What was remembered for the model. */
export const MemoryQueryEvent = defineAgentEvent(
  "MemoryQueryEvent",
  { content: z.array(z.custom<MemoryContent>((value) => typeof value === "object")).readonly() },
  { toText: ({ content }) => content.map((memory) => contentText(memory.content)).join("\n") },
)
export type MemoryQueryEvent = ReturnType<typeof MemoryQueryEvent>

/** Somebody is asked for their word; the request id is also given to whoever asks them. */
export const UserInputRequestedEvent = defineAgentEvent(
  "UserInputRequestedEvent",
  { requestId: z.string(), content: z.literal("").default("") },
  { toText: () => "" },
)
export type UserInputRequestedEvent = ReturnType<typeof UserInputRequestedEvent>

/** A piece of what a model says. */
export const ModelClientStreamingChunkEvent = defineAgentEvent(
  "ModelClientStreamingChunkEvent",
  {
    content: z.string(),
    /** The id of the message it is a piece of. */
    fullMessageId: z.string().optional(),
  },
  { toText: ({ content }) => content },
  "chunk",
)
export type ModelClientStreamingChunkEvent = ReturnType<typeof ModelClientStreamingChunkEvent>

/** What a model thought before it answered. */
export const ThoughtEvent = defineAgentEvent(
  "ThoughtEvent",
  { content: z.string() },
  { toText: ({ content }) => content },
)
export type ThoughtEvent = ReturnType<typeof ThoughtEvent>

/** Code that is about to run. */
export const CodeGenerationEvent = defineAgentEvent(
  "CodeGenerationEvent",
  {
    retryAttempt: z.int().nonnegative().default(0),
    content: z.string(),
    codeBlocks: z.array(z.object({ code: z.string(), language: z.string() })).readonly(),
  },
  { toText: ({ content }) => content },
)
export type CodeGenerationEvent = ReturnType<typeof CodeGenerationEvent>

/** A piece of what running code prints. */
export const CodeOutputEvent = defineAgentEvent(
  "CodeOutputEvent",
  { content: z.string(), stream: z.enum(["stdout", "stderr"]), block: z.int().nonnegative() },
  { toText: ({ content }) => content },
  "chunk",
)
export type CodeOutputEvent = ReturnType<typeof CodeOutputEvent>

/** How the code ended. */
export const CodeExecutionEvent = defineAgentEvent(
  "CodeExecutionEvent",
  { retryAttempt: z.int().nonnegative().default(0), result: codeRunSchema },
  { toText: ({ result }) => result.output },
)
export type CodeExecutionEvent = ReturnType<typeof CodeExecutionEvent>

/** Who has the word next. */
export const SelectSpeakerEvent = defineAgentEvent(
  "SelectSpeakerEvent",
  { content: z.array(z.string()).readonly() },
  { toText: ({ content }) => content.join(", ") },
)
export type SelectSpeakerEvent = ReturnType<typeof SelectSpeakerEvent>

/** What the model that chooses speakers said. */
export const SelectorEvent = defineAgentEvent(
  "SelectorEvent",
  { content: z.string() },
  { toText: ({ content }) => content },
)
export type SelectorEvent = ReturnType<typeof SelectorEvent>

function contentText(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content)
}
