import { z } from "zod"
import { formatIssues } from "../../internal/format-issues.ts"
import type { CreateResult } from "../create-result.ts"
import { type Block, type Usage, blockSchema, toCreateResult, usageSchema } from "./anthropic-answer.ts"

const eventSchema = z.union([
  z.object({ type: z.literal("message_start"), message: z.object({ usage: usageSchema.nullish() }) }),
  z.object({ type: z.literal("content_block_start"), index: z.int(), content_block: blockSchema }),
  z.object({
    type: z.literal("content_block_delta"),
    index: z.int(),
    delta: z.object({
      text: z.string().optional(),
      thinking: z.string().optional(),
      signature: z.string().optional(),
      partial_json: z.string().optional(),
    }),
  }),
  z.object({
    type: z.literal("message_delta"),
    delta: z.object({ stop_reason: z.string().nullish() }),
    usage: usageSchema.nullish(),
  }),
  z.object({ type: z.literal("message_stop") }),
  z.object({ type: z.enum(["content_block_stop", "ping"]) }),
])

interface OpenBlock {
  readonly block: Block
  /** The arguments of a call, which come as pieces of JSON. */
  json: string
}

/** Gathers the events of a streamed answer, and yields its text as it comes. */
export async function* gatherEvents(events: AsyncIterable<unknown>): AsyncGenerator<string, CreateResult> {
  const open = new Map<number, OpenBlock>()
  let usage: Usage = {
    input_tokens: 0,
    output_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  }
  let stop: string | undefined
  let isWhole = false
  for await (const raw of events) {
    const { data: event, error } = eventSchema.safeParse(raw)
    if (error) {
      if (isKnown(raw)) throw new SyntaxError(`an event does not fit: ${formatIssues(error.issues)}`)
      continue
    }
    if (event.type === "message_start") usage = merged(usage, event.message.usage)
    if (event.type === "content_block_start") {
      // A copy, because the pieces are added to it.
      open.set(event.index, { block: { ...event.content_block }, json: "" })
      if (event.content_block.type === "text") yield event.content_block.text
    }
    if (event.type === "content_block_delta") {
      const target = open.get(event.index)
      if (!target) throw new SyntaxError(`a piece belongs to block ${event.index}, which did not begin`)
      yield addPiece(target, event.delta)
    }
    if (event.type === "message_delta") {
      stop = event.delta.stop_reason ?? stop
      usage = merged(usage, event.usage)
    }
    if (event.type === "message_stop") isWhole = true
  }
  if (!isWhole) throw new SyntaxError("the stream ended before the answer did")
  return toCreateResult([...open.values()].map(closed), stop, usage)
}

const KNOWN = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "message_delta",
  "message_stop",
])

/** Events of kinds that came later are left alone, as the API asks. */
function isKnown(raw: unknown): boolean {
  const { type } = (raw ?? {}) as { type?: unknown }
  return typeof type !== "string" || KNOWN.has(type)
}

/** The counts of a stream are sums so far, not steps. */
function merged(usage: Usage, next: Usage | null | undefined): Usage {
  const set = Object.entries(next ?? {}).filter(([, value]) => typeof value === "number")
  return { ...usage, ...Object.fromEntries(set) }
}

/** Adds a piece to its block; the result is the text to show. */
function addPiece(
  target: OpenBlock,
  piece: {
    readonly text?: string
    readonly thinking?: string
    readonly signature?: string
    readonly partial_json?: string
  },
): string {
  const { block } = target
  if (block.type === "text") block.text += piece.text ?? ""
  if (block.type === "thinking") {
    block.thinking += piece.thinking ?? ""
    block.signature += piece.signature ?? ""
  }
  target.json += piece.partial_json ?? ""
  return block.type === "text" ? (piece.text ?? "") : ""
}

function closed({ block, json }: OpenBlock): Block {
  // As the model wrote it: an answer that was cut off has half of an object here.
  return block.type === "tool_use" && json !== "" ? { ...block, arguments: json } : block
}
