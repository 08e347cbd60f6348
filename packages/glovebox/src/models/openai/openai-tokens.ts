import { z } from "zod"
import type { CountOptions, TokenCount } from "../chat-completion-client.ts"
import { countMessageTokens } from "../count-message-tokens.ts"
import { estimateTokens } from "../estimate-tokens.ts"
import type { LLMMessage } from "../messages.ts"
import { readTools } from "../model-request.ts"

interface Encoding {
  readonly countTokens: (text: string, options?: { readonly disallowedSpecial?: Set<string> }) => number
}

/** Counts with OpenAI's own tokenizer if `gpt-tokenizer` is installed and the model uses it; else estimates. */
export async function countOpenAITokens(
  messages: readonly LLMMessage[],
  options: CountOptions,
  family: string,
): Promise<TokenCount> {
  const name = encodingOf(family)
  const encoding = name === undefined ? undefined : await loadEncoding(name)
  if (!encoding) return estimateTokens(messages, options)
  // Text that looks like a control token is text here, and not refused.
  const countText = (text: string): number => encoding.countTokens(text, { disallowedSpecial: new Set() })
  return {
    tokens: countMessageTokens(messages, readTools(options.tools ?? []), countText),
    tokenizer: `gpt-tokenizer ${name}`,
  }
}

type EncodingName = "o200k_base" | "cl100k_base"

function encodingOf(family: string): EncodingName | undefined {
  if (/^(?:gpt-4o|gpt-41|gpt-4\.|gpt-5|o\d|gpt-oss)/.test(family)) return "o200k_base"
  return /^gpt-(?:4|35)$/.test(family) ? "cl100k_base" : undefined
}

// As text: the package's types need a browser's, which this project does not have.
const PACKAGE: string = "gpt-tokenizer"

const encodingSchema = z.object({
  countTokens: z.custom<Encoding["countTokens"]>((value) => typeof value === "function"),
})

async function loadEncoding(name: EncodingName): Promise<Encoding | undefined> {
  try {
    return encodingSchema.parse(await import(`${PACKAGE}/encoding/${name}`))
  } catch {
    return undefined
  }
}
