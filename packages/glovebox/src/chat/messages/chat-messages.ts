import { z } from "zod"
import type { JsonValue } from "../../core/index.ts"
import { checkJson } from "../../core/json.ts"
import { deepFreeze } from "../../internal/deep-freeze.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { type Image, functionCallSchema, imageSchema, llmMessageSchema } from "../../models/index.ts"
import { defineChatMessage } from "./define-chat-message.ts"
import { formatTemplate } from "./format-template.ts"
import { functionResultSchema } from "./function-result-schema.ts"

export const TextMessage = defineChatMessage(
  "TextMessage",
  { content: z.string() },
  { toText: ({ content }) => content },
)
export type TextMessage = ReturnType<typeof TextMessage>

export const MultiModalMessage = defineChatMessage(
  "MultiModalMessage",
  { content: z.array(z.union([z.string(), imageSchema])).readonly() },
  {
    toText: ({ content }) => content.map(partText).join("\n"),
    toModelContent: ({ content }) => content,
  },
)
export type MultiModalMessage = ReturnType<typeof MultiModalMessage>

/** Asks for the end, or says why it ended. */
export const StopMessage = defineChatMessage(
  "StopMessage",
  { content: z.string() },
  { toText: ({ content }) => content },
)
export type StopMessage = ReturnType<typeof StopMessage>

/** Passes the word to somebody, with what they need to know. */
export const HandoffMessage = defineChatMessage(
  "HandoffMessage",
  {
    content: z.string(),
    /** The name of whoever is to go on. */
    target: z.string(),
    /** What was said to the model about it: calls and their results. */
    context: z.array(llmMessageSchema).readonly().default([]),
  },
  { toText: ({ content }) => content },
)
export type HandoffMessage = ReturnType<typeof HandoffMessage>

/** The results of tools as an answer, where no model made one of them. */
export const ToolCallSummaryMessage = defineChatMessage(
  "ToolCallSummaryMessage",
  {
    content: z.string(),
    toolCalls: z.array(functionCallSchema).readonly(),
    results: z.array(functionResultSchema).readonly(),
  },
  { toText: ({ content }) => content },
)
export type ToolCallSummaryMessage = ReturnType<typeof ToolCallSummaryMessage>

// A copy, so that nobody who has the object changes what was said.
const jsonContent = z
  .custom<JsonValue>((value) => value !== undefined, "is missing")
  .transform((value, context) => {
    try {
      checkJson(value)
      return deepFreeze(structuredClone(value))
    } catch (error) {
      context.addIssue({ code: "custom", message: errorMessage(error) })
      return z.NEVER
    }
  })

/** An answer that fits a schema. */
export const StructuredMessage = defineChatMessage(
  "StructuredMessage",
  {
    content: jsonContent,
    /** The name of its schema. */
    contentName: z.string().optional(),
    /** How a person reads it: `{field}` stands for a field. @default JSON */
    formatString: z.string().optional(),
  },
  {
    toText: ({ content, formatString }) =>
      formatString === undefined ? JSON.stringify(content) : formatTemplate(formatString, content),
    toModelText: ({ content }) => JSON.stringify(content),
  },
)
export type StructuredMessage<Content extends JsonValue = JsonValue> = ReturnType<
  typeof StructuredMessage
> & { readonly content: Content }

function partText(part: string | Image): string {
  return typeof part === "string" ? part : `[image: ${part.mediaType}]`
}
