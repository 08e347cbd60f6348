import { randomUUID } from "node:crypto"
import { z } from "zod"
import type { CreateResult, FinishReason, TokenLogprob } from "../create-result.ts"
import type { FunctionCall } from "../messages.ts"
import { normalizeName } from "../normalize-name.ts"
import { splitThought } from "../split-thought.ts"

/** An answer's parts as servers of this API send them, whole or gathered from a stream. */
export interface Answer {
  readonly text: string
  /** What the model says instead of an answer that it will not give. */
  readonly refusal: string
  readonly reasoning: string
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
  readonly finish: string | undefined
  readonly usage: z.output<typeof usageSchema> | undefined
  readonly logprobs: readonly z.output<typeof tokenSchema>[]
}

const count = z.number().nonnegative().nullish()

export const usageSchema = z.object({ prompt_tokens: count, completion_tokens: count })

const topSchema = z.object({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()).nullish() })
const tokenSchema = topSchema.extend({ top_logprobs: z.array(topSchema).nullish() })

export const logprobsSchema = z.object({ content: z.array(tokenSchema).nullish() }).nullish()

// Some servers send a list of parts instead of a text, the reasoning among them.
const partSchema = z.object({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.unknown().optional(),
})

/** The parts of a message, or of a piece of one, that are the same in both. */
export const textShape = {
  content: z.union([z.string(), z.array(partSchema)]).nullish(),
  refusal: z.string().nullish(),
  // Named so by DeepSeek, vLLM and llama.cpp, or so by OpenRouter and Ollama.
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
}

/** The text and the reasoning of a message, or of a piece of one. */
export function readTexts(message: z.output<z.ZodObject<typeof textShape>>): {
  text: string
  refusal: string
  reasoning: string
} {
  const { content, refusal, reasoning_content: reasoningContent, reasoning } = message
  const text = typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("")
  const thinking = typeof content === "string" ? "" : (content ?? []).map(thinkingOf).join("")
  return { text, refusal: refusal ?? "", reasoning: reasoningContent || reasoning || thinking }
}

function thinkingOf({ thinking }: z.output<typeof partSchema>): string {
  const { data } = z.array(z.object({ text: z.string() })).safeParse(thinking)
  return data ? data.map(({ text }) => text).join("") : typeof thinking === "string" ? thinking : ""
}

/** The result that an answer amounts to. */
export function toCreateResult(answer: Answer, family: string): CreateResult {
  const { refusal, reasoning, usage, logprobs } = answer
  const text = answer.text + refusal
  const calls = withOwnIds(answer.calls)
  const split = reasoning === "" && writesThoughts(family) ? splitThought(text) : { content: text }
  const said = [reasoning, split.thought ?? "", calls.length > 0 ? split.content : ""].filter(
    (part) => part !== "",
  )
  return {
    finishReason:
      calls.length > 0 ? "function_calls" : refusal === "" ? finishReason(answer.finish) : "content_filter",
    content: calls.length > 0 ? calls : split.content,
    usage: { promptTokens: usage?.prompt_tokens ?? 0, completionTokens: usage?.completion_tokens ?? 0 },
    cached: false,
    ...(logprobs.length === 0 ? {} : { logprobs: logprobs.map(toLogprob) }),
    ...(said.length === 0 ? {} : { thought: said.join("\n\n") }),
  }
}

/** Families that write their reasoning into the text. */
export function writesThoughts(family: string): boolean {
  return /^(?:r1|deepseek|qwen|qwq)/.test(family)
}

/** A server that numbers nothing, or everything alike, would make two calls look like one. */
function withOwnIds(calls: Answer["calls"]): FunctionCall[] {
  const taken = new Set([""])
  return calls.map(({ id, name, arguments: args }) => {
    const own = taken.has(id) ? `call_${randomUUID()}` : id
    taken.add(own)
    return { id: own, name: normalizeName(name), arguments: args || "{}" }
  })
}

function finishReason(reason = ""): FinishReason {
  switch (reason) {
    case "stop":
    case "length":
    case "content_filter":
      return reason
    case "tool_calls":
    case "function_call":
      // It says so, but there are none.
      return "stop"
    default:
      return "unknown"
  }
}

function toLogprob({ top_logprobs: top, ...token }: z.output<typeof tokenSchema>): TokenLogprob {
  return {
    ...plain(token),
    ...(top === undefined || top === null || top.length === 0 ? {} : { topLogprobs: top.map(plain) }),
  }
}

function plain({ token, logprob, bytes }: z.output<typeof topSchema>): TokenLogprob {
  return { token, logprob, ...(bytes ? { bytes } : {}) }
}
