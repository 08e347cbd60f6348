import { createHash } from "node:crypto"
import type { JsonObject } from "../../core/index.ts"
import { canonicalJson } from "../../internal/canonical-json.ts"
import type { LLMMessage } from "../messages.ts"
import type { ModelRequest } from "../model-request.ts"

// Raised when the meaning of what is stored changes.
const VERSION = 1

/** A digest of everything that decides on an answer: the model, its options, and the whole request. */
export function cacheKey(identity: JsonObject, request: ModelRequest): string {
  return createHash("sha256")
    .update(canonicalJson([VERSION, identity, { ...request, messages: request.messages.map(asSent) }]))
    .digest("hex")
}

// No provider is told where words come from.
function asSent(message: LLMMessage): LLMMessage {
  if (message.type !== "UserMessage" || message.untrusted === undefined) return message
  const { untrusted: _untold, ...sent } = message
  return sent
}
