import { z } from "zod"
import { formatIssues } from "../../internal/format-issues.ts"
import type { CreateResult, FinishReason } from "../create-result.ts"
import { normalizeName } from "../normalize-name.ts"
import { type SignedBlock, writeSignature } from "./thought-signature.ts"

const count = z.number().nonnegative().nullish()

export const usageSchema = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
})

export type Usage = z.output<typeof usageSchema>

const READ = new Set(["text", "thinking", "redacted_thinking", "tool_use"])

// Blocks of other kinds come from tools that the provider runs itself.
export const blockSchema = z.looseObject({ type: z.string() }).pipe(
  z.union([
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string().default("") }),
    z.object({ type: z.literal("redacted_thinking"), data: z.string() }),
    z
      .object({
        type: z.literal("tool_use"),
        id: z.string(),
        name: z.string(),
        input: z.record(z.string(), z.unknown()).nullish(),
      })
      .transform(({ input, ...block }) => ({ ...block, arguments: JSON.stringify(input ?? {}) })),
    z
      .looseObject({ type: z.string().refine((type) => !READ.has(type), "its other fields do not fit") })
      .transform(() => ({ type: "other" as const })),
  ]),
)

export type Block = z.output<typeof blockSchema>

const messageSchema = z.object({
  type: z.literal("message"),
  content: z.array(blockSchema),
  stop_reason: z.string().nullish(),
  usage: usageSchema.nullish(),
})

/** Reads a whole answer. */
export function readMessage(body: unknown): CreateResult {
  const { data, error } = messageSchema.safeParse(body)
  if (error) throw new SyntaxError(`the answer does not fit: ${formatIssues(error.issues)}`)
  return toCreateResult(data.content, data.stop_reason ?? undefined, data.usage ?? undefined)
}

/** The result that an answer amounts to. */
export function toCreateResult(
  blocks: readonly Block[],
  stop: string | undefined,
  usage: Usage | undefined,
): CreateResult {
  const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("")
  const thinking = blocks.map((block) => (block.type === "thinking" ? block.thinking : "")).join("")
  const calls = blocks.flatMap((block) =>
    block.type === "tool_use"
      ? [{ id: block.id, name: normalizeName(block.name), arguments: block.arguments }]
      : [],
  )
  const thought = [thinking, calls.length > 0 ? text : ""].filter((part) => part !== "").join("\n\n")
  const signature = writeSignature(
    blocks.filter((block) => isSigned(block, calls.length > 0)) as SignedBlock[],
  )
  return {
    finishReason: calls.length > 0 ? "function_calls" : finishReason(stop),
    content: calls.length > 0 ? calls : text,
    usage: {
      // The three add up to what was read, however it was charged.
      promptTokens:
        (usage?.input_tokens ?? 0) +
        (usage?.cache_creation_input_tokens ?? 0) +
        (usage?.cache_read_input_tokens ?? 0),
      completionTokens: usage?.output_tokens ?? 0,
    },
    cached: false,
    ...(thought === "" ? {} : { thought }),
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  }
}

function isSigned({ type }: Block, hasCalls: boolean): boolean {
  return type === "thinking" || type === "redacted_thinking" || (hasCalls && type === "text")
}

function finishReason(stop = ""): FinishReason {
  switch (stop) {
    case "end_turn":
    case "stop_sequence":
    case "tool_use":
      return "stop"
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length"
    case "refusal":
      return "content_filter"
    default:
      return "unknown"
  }
}
