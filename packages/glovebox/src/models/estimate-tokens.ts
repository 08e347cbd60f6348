import type { CountOptions, TokenCount } from "./chat-completion-client.ts"
import { countMessageTokens } from "./count-message-tokens.ts"
import type { LLMMessage } from "./messages.ts"
import { readTools } from "./model-request.ts"

/** A count without a tokenizer: four characters of English, or one and a half of other scripts, are about a token. */
export function estimateTokens(messages: readonly LLMMessage[], options: CountOptions = {}): TokenCount {
  return {
    tokens: countMessageTokens(messages, readTools(options.tools ?? []), estimateText),
    tokenizer: "estimate",
  }
}

function estimateText(text: string): number {
  let other = 0
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x24f) other += 1
  return Math.ceil((text.length - other) / 4 + other / 1.5)
}
