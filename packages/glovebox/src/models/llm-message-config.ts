import { z } from "zod"
import { type Image, imageFromBase64 } from "./image.ts"
import type { FunctionExecutionResult, LLMMessage } from "./messages.ts"

/** AutoGen writes the bytes alone. */
const imageConfigSchema = z.object({
  type: z.literal("Image").optional(),
  media_type: z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]).nullish(),
  data: z.base64().min(1),
})

/** The same in both. */
export const functionCallConfigSchema = z.object({ id: z.string(), name: z.string(), arguments: z.string() })

/** A message to a model as AutoGen writes it into a component's data. */
export const llmMessageConfigSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("SystemMessage"), content: z.string() }),
  z.object({
    type: z.literal("UserMessage"),
    content: z.union([z.string(), z.array(z.union([z.string(), imageConfigSchema]))]),
    source: z.string(),
    // AutoGen knows no such thing.
    untrusted: z.string().nullish(),
  }),
  z.object({
    type: z.literal("AssistantMessage"),
    content: z.union([z.string(), z.array(functionCallConfigSchema).min(1)]),
    thought: z.string().nullish(),
    thought_signature: z.string().nullish(),
    source: z.string(),
  }),
  z.object({
    type: z.literal("FunctionExecutionResultMessage"),
    content: z.array(
      z.object({
        call_id: z.string(),
        name: z.string(),
        content: z.string(),
        is_error: z.boolean().nullish(),
      }),
    ),
  }),
])

export type LLMMessageConfig = z.input<typeof llmMessageConfigSchema>

export function llmMessageFromConfig(config: LLMMessageConfig): LLMMessage {
  switch (config.type) {
    case "UserMessage": {
      const { content, untrusted, ...rest } = config
      return {
        ...rest,
        content: typeof content === "string" ? content : content.map(partFromConfig),
        ...(typeof untrusted === "string" ? { untrusted } : {}),
      }
    }
    case "AssistantMessage": {
      const { thought, thought_signature: thoughtSignature, ...rest } = config
      return {
        ...rest,
        ...(typeof thought === "string" ? { thought } : {}),
        ...(typeof thoughtSignature === "string" ? { thoughtSignature } : {}),
      }
    }
    case "FunctionExecutionResultMessage":
      return {
        type: config.type,
        content: config.content.map(
          ({ call_id: callId, is_error: isError, name, content }): FunctionExecutionResult => ({
            callId,
            name,
            content,
            ...(typeof isError === "boolean" ? { isError } : {}),
          }),
        ),
      }
    case "SystemMessage":
    default:
      return config
  }
}

export function llmMessageToConfig(message: LLMMessage): LLMMessageConfig {
  switch (message.type) {
    case "UserMessage": {
      const { type, content, source, untrusted } = message
      return {
        type,
        content: typeof content === "string" ? content : content.map(partToConfig),
        source,
        ...(untrusted === undefined ? {} : { untrusted }),
      }
    }
    case "AssistantMessage": {
      const { type, content, thought, thoughtSignature: thought_signature, source } = message
      return {
        type,
        content: typeof content === "string" ? content : [...content],
        thought,
        thought_signature,
        source,
      }
    }
    case "FunctionExecutionResultMessage":
      return {
        type: message.type,
        content: message.content.map(({ callId: call_id, name, content, isError: is_error }) => ({
          call_id,
          name,
          content,
          is_error,
        })),
      }
    case "SystemMessage":
    default:
      return { type: message.type, content: message.content }
  }
}

function partFromConfig(part: string | z.input<typeof imageConfigSchema>): string | Image {
  if (typeof part === "string") return part
  const { media_type: mediaType, data } = part
  return mediaType ? { type: "Image", mediaType, data } : imageFromBase64(data)
}

function partToConfig(part: string | Image): string | z.input<typeof imageConfigSchema> {
  return typeof part === "string" ? part : { type: "Image", media_type: part.mediaType, data: part.data }
}
